/**
 * Removes what has expired and says nothing any more: sessions whose last token has ended, one-time codes, exchange codes,
 * the first answers to requests that were sent with an idempotency key.
 * Any number of processes may do it at once; each takes what no other is at.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Between two rounds. */
const intervalMinutes = 10

/** Rows removed by one statement, so that none holds its locks for long. */
const rowsMax = 5_000

/** How long an expired code is still told apart from an unknown one. */
const keptMinutes = 60

/** One round. Answers how many rows it removed. */
export const removeExpired = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const kept = new Date(now - keptMinutes * 60_000)
  const rounds = [
    ["sessions", sql`expires_at < ${new Date(now)} and access_expires_at < ${new Date(now)}`],
    ["one_time_codes", sql`expires_at < ${kept}`],
    ["exchange_codes", sql`expires_at < ${kept}`],
    ["idempotency_keys", sql`expires_at < ${new Date(now)}`]
  ] as const
  let removed = 0
  for (const [table, isExpired] of rounds) {
    const remove = Effect.map(
      sql<{ count: number }>`
        with gone as (
          delete from ${sql(table)} where ctid = any(array(
            select ctid from ${sql(table)} where ${isExpired} limit ${rowsMax} for update skip locked
          )) returning 1
        )
        select count(*)::int as count from gone`,
      (rows) => rows[0]!.count
    )
    let count: number
    do removed += count = yield* remove
    while (count === rowsMax)
  }
  return removed
})

/** A round every ten minutes, the first ten minutes after the start. */
export const layer = Layer.effectDiscard(
  Effect.sleep(Duration.minutes(intervalMinutes)).pipe(
    Effect.andThen(removeExpired),
    Effect.catchCause((cause) =>
      Effect.logWarning("Expired sessions, codes and keys could not be removed; trying again", cause)
    ),
    Effect.forever,
    Effect.forkScoped
  )
)
