/**
 * The products of experiences, remembered: a drop's consumers all ask for the same ones at once. The database tells every
 * process when an organization's catalogue, or what one of its experiences offers, has changed (`Invalidations`). Where
 * memory may have missed something, the database is asked.
 */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import type { ExperienceProduct } from "../../domain/experience/ExperienceProduct.ts"
import { ExperienceProducts } from "./ExperienceProducts.ts"
import { Invalidations } from "../coordination/Invalidations.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"

/** Experiences whose products are remembered, and likewise those whose variants are. */
const rememberedExperiences = 1_000

export class ShownProducts extends Context.Service<
  ShownProducts,
  {
    /** What an experience of the organization offers, in its order. */
    of(organizationId: string, experienceId: string): Effect.Effect<ReadonlyArray<ExperienceProduct>, Unavailable>
    /** The variants in which an experience of the organization offers products: all of them. */
    variantIds(organizationId: string, experienceId: string): Effect.Effect<ReadonlySet<string>, Unavailable>
  }
>()("usher/store/experience/ShownProducts") {
  static readonly layer = Layer.effect(
    ShownProducts,
    Effect.gen(function* () {
      const products = yield* ExperienceProducts
      const invalidations = yield* Invalidations

      /** Remembers what is read of an experience. */
      const remembering = Effect.fnUntraced(function* <A>(
        read: (experienceId: string) => Effect.Effect<A, Unavailable>
      ) {
        // Who asks while the database is being asked waits for the same answer; what is forgotten meanwhile is not
        // remembered by it.
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
