/** When a failed delivery is repeated, and when an endpoint is disabled. */
import type { Millis } from "../values/Time.ts"
import type { RetrySchedule } from "./Webhook.ts"

const minuteMillis = 60_000
const hourMillis = 60 * minuteMillis

/** The delays after the first attempt. */
const standardDelays = [minuteMillis, 5 * minuteMillis, 30 * minuteMillis, 2 * hourMillis, 12 * hourMillis]

const delays: { readonly [S in RetrySchedule]: ReadonlyArray<Millis> } = {
  standard: standardDelays,
  extended: [...standardDelays, 14 * hourMillis, 20 * hourMillis, 24 * hourMillis, 24 * hourMillis]
}

/** The greatest share of a delay that is added to it, so that retries do not arrive together. */
const spreadShare = 0.1

/** The longest wait that an endpoint can ask for with `Retry-After`. */
const retryAfterMillisMax = 24 * hourMillis

/** An endpoint without a successful delivery for this long is disabled. */
export const failingMillisMax = 120 * hourMillis

/**
 * Returns the milliseconds until the next attempt. Undefined if the delivery has failed permanently.
 *
 * @param attempts the attempts made so far, 1 or more
 * @param dice 0 to 1
 * @param retryAfterMillis the wait that the endpoint asked for; 0 for none
 */
export const nextDelayMillis = (
  schedule: RetrySchedule,
  attempts: number,
  dice: number,
  retryAfterMillis: number
): Millis | undefined => {
  const delay = delays[schedule][attempts - 1]
  if (delay === undefined) return undefined
  return Math.max(Math.round(delay * (1 + spreadShare * dice)), Math.min(retryAfterMillis, retryAfterMillisMax))
}
