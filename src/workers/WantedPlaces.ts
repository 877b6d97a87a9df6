/** Writes the places that wait in this process, when a reader in another process waits for them. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Scope } from "effect"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { PlaceWriters } from "../store/journal/CurrentPlaces.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { config } = yield* PgClient.PgClient
    const writers = yield* PlaceWriters
    const scope = yield* Scope.Scope
    yield* (yield* Invalidations).subscribe("places", {
      handle: () => Effect.asVoid(Effect.forkIn(writers.get(config) ?? Effect.void, scope)),
      refresh: Effect.void
    })
  })
)
