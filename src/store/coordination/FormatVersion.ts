/**
 * The format version of events and questions that this installation writes. Every release that may run reads it. `usher upgrade
 * finish` raises it; a serving process learns of that with its next heartbeat.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { release } from "../../domain/values/Release.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

export const FormatVersion = Context.Reference<{ current: number }>("usher/store/coordination/FormatVersion", {
  defaultValue: () => ({ current: release.level[0] })
})

/** The version as the database has it; the heartbeat keeps it up to date. */
export const layer = Layer.effect(
  FormatVersion,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: number }>`select format_version as version from installation`
    return { current: row!.version }
  }).pipe(orUnavailable)
)
