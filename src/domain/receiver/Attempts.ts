/** When a received event is handled again. Events arrive in any order: a refund waits for the payment it belongs to. */
import type { Millis } from "../values/Time.ts"

const minuteMillis = 60_000
const hourMillis = 60 * minuteMillis

/** The delays after the first attempt. */
const delays = [
  5_000,
  30_000,
  2 * minuteMillis,
  10 * minuteMillis,
  hourMillis,
  6 * hourMillis,
  24 * hourMillis,
  48 * hourMillis
]

/** Returns the milliseconds until the next attempt; undefined after the last one. `attempts` were made so far. */
export const nextDelayMillis = (attempts: number): Millis | undefined => delays[attempts - 1]
