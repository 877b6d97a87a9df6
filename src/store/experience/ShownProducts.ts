/**
 * The products of experiences, cached, because all consumers of a drop request the same ones at once. The database
 * notifies every process when the catalogue of an organization, or the offer of one of its experiences, has changed
 * (`Invalidations`). While notifications may have been missed, the database is read.
 */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import type { ExperienceProduct } from "../../domain/experience/ExperienceProduct.ts"
import { ExperienceProducts } from "./ExperienceProducts.ts"
import { Invalidations } from "../coordination/Invalidations.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"

/** Experiences whose products are cached, and as many whose variants are. */
const rememberedExperiences = 1_000

export class ShownProducts extends Context.Service<
  ShownProducts,
  {
    /** Returns the products that an experience of the organization offers, sorted by position. */
    of(organizationId: string, experienceId: string): Effect.Effect<ReadonlyArray<ExperienceProduct>, Unavailable>
    /** Returns all variants in which an experience of the organization offers products. */
    variantIds(organizationId: string, experienceId: string): Effect.Effect<ReadonlySet<string>, Unavailable>
  }
>()("usher/store/experience/ShownProducts") {
  static readonly layer = Layer.effect(ShownProducts)(
    Effect.gen(function* () {
      const products = yield* ExperienceProducts
      const invalidations = yield* Invalidations

      /** Caches the rows of an experience. */
      const remembering = Effect.fnUntraced(function* <A>(
        read: (experienceId: string) => Effect.Effect<A, Unavailable>
      ) {
        // Concurrent callers share one query. If the key is invalidated in the meantime, the result is not cached.
        const remembered = yield* Cache.makeWith((key: string) => read(key.slice(key.indexOf(" ") + 1)), {
          capacity: rememberedExperiences,
          timeToLive: (exit) => (Exit.isSuccess(exit) ? "Infinity" : 0)
        })
        const forget = Effect.fnUntraced(function* (organizationId: string) {
          for (const key of yield* Cache.keys(remembered)) {
            if (key.startsWith(`${organizationId} `)) yield* Cache.invalidate(remembered, key)
          }
        })
        const of = (organizationId: string, experienceId: string) =>
          Effect.suspend(() =>
            invalidations.isCurrent() ? Cache.get(remembered, `${organizationId} ${experienceId}`) : read(experienceId)
          )
        return { of, forget, forgetAll: Cache.invalidateAll(remembered) }
      })

      const shown = yield* remembering(products.shown)
      const variants = yield* remembering(products.variantIds)

      yield* invalidations.subscribe("catalogue", {
        handle: (organizationId) => Effect.andThen(shown.forget(organizationId), variants.forget(organizationId)),
        refresh: Effect.andThen(shown.forgetAll, variants.forgetAll)
      })

      return { of: shown.of, variantIds: variants.of }
    })
  )
}
