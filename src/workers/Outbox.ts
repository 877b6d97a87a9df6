/**
 * What the two outboxes have in common: webhooks (`WebhookDeliveries.ts`), and messages about grants (`GrantMessages.ts`).
 *
 * The journal is the outbox of both, so an append costs nothing extra, and a restart loses nothing. A cursor says up to
 * which event a journal is done; what waits for a retry has a row of its own behind the cursor. A lease selects the
 * process that does the work. A process that dies before it has recorded a result sends the same again, with the same id.
 *
 * Two things differ, so the tables and the rounds do too:
 * - Webhooks have an order: a failed delivery holds back those after it in its lane. They are many, so one transaction
 *   records all results of a round, and each webhook has a cursor into each journal and a lease of its own.
 * - Messages have no order, and people should not get one twice. So each result is recorded at once, and a process that
 *   dies repeats only the messages in progress. What a message says is looked up again for each attempt, because its grant
 *   may have ended. All share one rate, so one lease covers all of them.
 */
import { Context, Effect, Latch, Schedule } from "effect"
import * as Time from "../store/coordination/Time.ts"

/** Retries the recording of results while the database is away: each second, for half a minute. */
export const retryRecording: <A, E, R>(record: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.retry(
  Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(30)])
)

/** Creates a function that waits for the caller's turn, of which there are so many in a second, evenly spread. */
export const makePace = () => {
  let nextAt = 0
  return (perSecond: number): Effect.Effect<void> =>
    Effect.flatMap(Time.serverNow, (now) => {
      const at = Math.max(now, nextAt)
      nextAt = at + 1_000 / perSecond
      return at > now ? Effect.sleep(at - now) : Effect.void
    })
}

/** Opened when messages are known to be owed: of grants, and those that consumers have asked for. */
export const MessagesOwed = Context.Reference("usher/workers/MessagesOwed", {
  defaultValue: () => ({ grants: Latch.makeUnsafe(), alerts: Latch.makeUnsafe() })
})
