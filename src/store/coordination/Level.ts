/**
 * The level of events and questions that this installation writes. Every release that may run reads it. `usher upgrade
 * finish` raises it; a serving process learns of that with its next heartbeat.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { release } from "../../domain/values/Release.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

export const Level = Context.Reference<{ current: number }>("usher/store/coordination/Level", {
  defaultValue: () => ({ current: release.level[0] })
})

/** The level as the database has it; the heartbeat keeps it up to date. */
export const layer = Layer.effect(
  Level,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly level: number }>`select level from installation`
    return { current: row!.level }
  }).pipe(orUnavailable)
)
