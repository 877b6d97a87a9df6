/**
 * Deletes expired rows: sessions without a valid token, one-time codes and counts of tries, exchange codes, spent
 * challenges, stored responses to requests with an idempotency key, and old events of the audit log, of security and of
 * providers, and sent messages. Several processes may run it at the same time; each skips rows that another has locked.
 */
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { auditLogDays, messageDays, receivedEventDays } from "../../domain/organization/Retention.ts"
import { guessedMinutes } from "../codes/CodeRows.ts"
import { removeOld } from "../../store/organization/SecurityEventRetention.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Pause between two rounds. */
const intervalMinutes = 10

/** Rows deleted by one statement. Bounds how long it holds locks. */
const rowsMax = 5_000

/** How long an expired code is kept, so that it can be distinguished from an unknown one. */
const keptMinutes = 60

/** How long the wrong tries of a one-time code count. */
const guessedMillis = guessedMinutes * 60_000

const dayMillis = 86_400_000

/** How long an alert of a consumer is kept whose experience does not open, or whose auction has ended. */
const alertDays = 400

/** Runs one round. Returns the number of deleted rows. */
export const removeExpired = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Time.serverNow
  const kept = new Date(now - keptMinutes * 60_000)
  // What expires by a test clock is kept until the clock is deleted.
  const byServer = sql`(mode = 'live' or organization_id not in (select organization_id from test_clocks))`
  const rounds = [
    ["sessions", sql`expires_at < ${new Date(now)} and access_expires_at < ${new Date(now)}`],
    ["one_time_codes", sql`expires_at < ${new Date(now - guessedMillis)} and ${byServer}`],
    ["attempts", sql`ends_at < ${new Date(now)}`],
    ["exchange_codes", sql`expires_at < ${kept} and ${byServer}`],
    ["idempotency_keys", sql`expires_at < ${new Date(now)}`],
    ["spent_challenges", sql`expires_at < ${new Date(now)}`],
    ["tenant_events", sql`at < ${new Date(now - auditLogDays * dayMillis)} and ${byServer}`],
    ["received_events", sql`received_at < ${new Date(now - receivedEventDays * dayMillis)}`],
    ["alerts", sql`created_at < ${new Date(now - alertDays * dayMillis)} and ${byServer}`],
    ["sent_messages", sql`sent_at < ${new Date(now - messageDays * dayMillis)} and ${byServer}`]
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
  let events: number
  do removed += events = yield* removeOld(now, rowsMax)
  while (events === rowsMax)
  return removed
})

/** Runs a round every ten minutes, the first one ten minutes after the start. */
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
