/**
 * The installation that this process works for: the timeline of its database, and whether a restore has put it on hold.
 *
 * A restored database has another past than the processes that worked on its former timeline believe. So what processes
 * share outside of the database carries the timeline in its name: keys in Redis, and the secret of a cluster's nodes.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"

/** An installation, as its row says. */
export interface InstallationState {
  /** Empty where there is no database. */
  readonly timeline: string
  /** On hold since a restore: the instant of the backup, at which time stands still. Undefined: not on hold. */
  readonly heldAt: Millis | undefined
}

/** The installation when this process began to work for it. */
export const Installation = Context.Reference<InstallationState>("usher/store/coordination/Installation", {
  defaultValue: () => ({ timeline: "", heldAt: undefined })
})

export const read: Effect.Effect<InstallationState, Unavailable, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly timeline: string; readonly heldAt: Date | null }>`
    select timeline, held_at as "heldAt" from installation`
  return { timeline: row!.timeline, heldAt: row!.heldAt?.getTime() }
}).pipe(orUnavailable)

export const layer = Layer.effect(Installation, read)

/** A new timeline adds so many epochs, more than owners can have begun since the backup. */
const epochsBetween = 1_000_000

/**
 * Begins a new timeline, on hold, in the caller's transaction. `at` is the instant of the backup. Every mechanism begins a
 * new epoch.
 */
export const beginTimeline = Effect.fnUntraced(function* (at: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update mechanism_heads set epoch = (epoch / ${epochsBetween}::int4 + 1) * ${epochsBetween}::int4`
  yield* sql`update installation set timeline = ${randomUUID()}, held_at = ${at}::timestamptz, backup_at = null`
})

/** Goes on with a timeline after a copy to another server, without a hold. Nothing was written to the former server since. */
export const keepTimeline = Effect.fnUntraced(function* (timeline: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update installation set timeline = ${timeline}, held_at = null`
}, orUnavailable)

export const endHold = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.asVoid(sql`update installation set held_at = null`)
).pipe(orUnavailable)

/** Returns the instant of the last backup; undefined if there is none. */
export const backupAt = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly backupAt: Date | null }>`select backup_at as "backupAt" from installation`
  return row!.backupAt?.getTime()
}).pipe(orUnavailable)

/** The prefix of this installation's keys in Redis, for one use of them. */
export const redisPrefix = (use: string) =>
  Effect.map(Installation, ({ timeline }) => (timeline === "" ? `usher:${use}:` : `usher:${use}:${timeline}:`))
