/** Interprets the attempts of a round: for each notification, and for the webhook. */
import { type Attempt, isDelivered } from "../../delivery/webhook/WebhookClient.ts"
import { failingMillisMax, nextDelayMillis } from "../../domain/webhook/Attempts.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Endpoint, Held } from "../../store/webhook/OutboxRows.ts"
import type { Result, Round } from "../../store/webhook/Round.ts"

/** The results of notifications without an attempt. The first of a lane is due at `retryAt`; null: it waits behind another. */
export const waiting = (lane: ReadonlyArray<Held>, retryAt: Millis | null): ReadonlyArray<Result> =>
  lane.map((held, index) => ({ held, status: "WAITING", retryAt: index === 0 ? retryAt : null }))

/** The result of an attempt. */
export function resultOf({ schedule }: Endpoint, held: Held, attempt: Attempt, dice: number): Result {
  const { retryAfterMillis, ...logged } = attempt
  const attempts = held.attempts + 1
  const tried = { held: { ...held, attempts }, attempt: logged, retryAt: null }
  if (isDelivered(attempt)) return { ...tried, status: "DELIVERED" }
  const delayMillis = nextDelayMillis(schedule, attempts, dice, retryAfterMillis)
  if (delayMillis === undefined) return { ...tried, status: "FAILED" }
  return { ...tried, status: "WAITING", retryAt: attempt.at + attempt.durationMillis + delayMillis }
}

/** The state of the endpoint after a round; undefined if it did not change. */
export function endpointAfter({ failingSince }: Endpoint, results: ReadonlyArray<Result>): Round["endpoint"] {
  const attempts = results.flatMap(({ attempt, status }) => (attempt === undefined ? [] : [{ ...attempt, status }]))
  if (attempts.length === 0) return undefined
  if (attempts.some(({ statusCode }) => statusCode === 410)) {
    return { failingSince: failingSince ?? attempts[0]!.at, disabledReason: "GONE" }
  }
  if (attempts.some(({ status }) => status === "DELIVERED")) {
    return failingSince === undefined ? undefined : { failingSince: null, disabledReason: null }
  }
  if (failingSince === undefined) return { failingSince: attempts[0]!.at, disabledReason: null }
  const isFailing = attempts.at(-1)!.at - failingSince >= failingMillisMax
  return isFailing ? { failingSince, disabledReason: "FAILING" } : undefined
}
