/**
 * Writes guests and their sessions. A drop brings its guests all at once: those who arrive while a write is under way
 * travel together in the next one. Each is on disk before it is answered.
 */
import { Deferred, Effect, Queue as Mailbox } from "effect"
import { SqlClient } from "effect/sql"
import type { Millis } from "../domain/Time.ts"
import { Unavailable } from "../store/Journal.ts"
import { orUnavailable } from "../store/SqlFailure.ts"
import type { TokenSubject } from "./Tokens.ts"

/** Guests in one statement at most. */
const batchSizeMax = 1_000

/** Statements under way at once: while one is being committed the next is sent. */
const writers = 2

/** Guests that may wait to be written; beyond it they are better told. */
const waitingMax = 32_768

/** How long a statement may take before its guests are told that the outcome is unknown. */
const writeSeconds = 10

/** A new guest with its session. */
export interface GuestRow {
  readonly subject: TokenSubject
  readonly refreshHash: Uint8Array
  readonly createdAt: Millis
  readonly expiresAt: Millis
  readonly accessExpiresAt: Millis
}

interface Waiting {
  readonly row: GuestRow
  readonly done: Deferred.Deferred<void, Unavailable>
}

/** What writes one guest, many in a statement; returns once it is committed. */
export const makeInsert = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waiting = yield* Mailbox.dropping<Waiting>(waitingMax)

  const write = (rows: ReadonlyArray<GuestRow>) => sql`
    with arrived as (
      select * from unnest(
        ${rows.map((row) => row.subject.consumerId)}::uuid[],
        ${rows.map((row) => row.subject.tenant.organizationId)}::uuid[],
        ${rows.map((row) => row.subject.tenant.mode)}::text[],
        ${rows.map((row) => row.subject.sessionId)}::uuid[],
        ${rows.map((row) => row.refreshHash)}::bytea[],
        ${rows.map((row) => new Date(row.createdAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.expiresAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.accessExpiresAt))}::timestamptz[]
      ) as a (consumer_id, organization_id, mode, session_id, refresh_hash, created_at, expires_at, access_expires_at)
    ), consumer as (
      insert into consumers (id, organization_id, mode, type, created_at)
      select consumer_id, organization_id, mode, 'guest', created_at from arrived
    )
    insert into sessions
      (id, consumer_id, organization_id, mode, type, refresh_hash, created_at, expires_at, access_expires_at)
    select session_id, consumer_id, organization_id, mode, 'guest', refresh_hash, created_at, expires_at, access_expires_at
    from arrived`

  const writeBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
    const exit = yield* write(batch.map(({ row }) => row)).pipe(
      Effect.timeout(writeSeconds * 1000),
      Effect.catchTag("TimeoutError", (cause) => Effect.fail(new Unavailable({ cause }))),
      orUnavailable,
      Effect.asVoid,
      Effect.tapCause((cause) => Effect.logError(`${batch.length} guest(s) could not be written`, cause)),
      Effect.exit
    )
    for (const { done } of batch) Deferred.doneUnsafe(done, exit)
  })

  const work = Effect.forever(Effect.flatMap(Mailbox.takeBetween(waiting, 1, batchSizeMax), writeBatch))
  for (let writer = 0; writer < writers; writer++) yield* Effect.forkScoped(work)

  return (row: GuestRow) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<void, Unavailable>()
      return Mailbox.offerUnsafe(waiting, { row, done })
        ? Deferred.await(done)
        : Effect.fail(new Unavailable({ cause: "too many guests arrive at once" }))
    })
})
