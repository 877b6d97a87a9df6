/**
 * The products of experiences, remembered: a drop's consumers all ask for the same ones at once. The database tells every
 * process when an organization's catalogue, or what one of its experiences offers, has changed (`Invalidations`). Where
 * memory may have missed something, the database is asked.
 */
import { Cache, Context, Effect, Exit, Layer } from "effect"
import type { ExperienceProduct } from "../domain/ExperienceProduct.ts"
import { ExperienceProducts } from "./ExperienceProducts.ts"
import { Invalidations } from "./Invalidations.ts"
import type { Unavailable } from "./Journal.ts"

/** Experiences whose products are remembered. */
const rememberedExperiences = 1_000

export class ShownProducts extends Context.Service<
  ShownProducts,
  {
    /** What an experience of the organization offers, in its order. */
    of(organizationId: string, experienceId: string): Effect.Effect<ReadonlyArray<ExperienceProduct>, Unavailable>
  }
>()("usher/store/ShownProducts") {
  static readonly layer = Layer.effect(
    ShownProducts,
    Effect.gen(function* () {
      const products = yield* ExperienceProducts
      const invalidations = yield* Invalidations
      // Who asks while the database is being asked waits for the same answer; what is forgotten meanwhile is not
      // remembered by it.
      const remembered = yield* Cache.makeWith((key: string) => products.shown(key.slice(key.indexOf(" ") + 1)), {
        capacity: rememberedExperiences,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? "Infinity" : 0)
      })

      const forget = Effect.fnUntraced(function* (organizationId: string) {
        for (const key of yield* Cache.keys(remembered)) {
          if (key.startsWith(`${organizationId} `)) yield* Cache.invalidate(remembered, key)
        }
      })

      yield* invalidations.subscribe("catalogue", { handle: forget, refresh: Cache.invalidateAll(remembered) })

      return {
        of: (organizationId, experienceId) =>
          Effect.suspend(() =>
            invalidations.isCurrent()
              ? Cache.get(remembered, `${organizationId} ${experienceId}`)
              : products.shown(experienceId)
          )
      }
    })
  )
}
