/** A caller's status under its limits, as the headers of answers show it. */
import type { Millis } from "../../domain/values/Time.ts"
import type { Count } from "./Counts.ts"

/** The status under the limit with the least remaining. */
export interface LimitStatus {
  readonly limit: number
  readonly remaining: number
  /** The end of the window, in seconds since the epoch. */
  readonly resetAtSeconds: number
  /** Whole seconds, 1 or more, after which a refused request should be repeated. Absent if the request passed. */
  readonly retryAfterSeconds?: number
}

export const passed = (count: Count, remaining: number): LimitStatus => ({
  limit: count.limit.requestsMax,
  remaining,
  resetAtSeconds: count.endsAt / 1_000
})

/** True if the count takes no more requests. */
export const isFull = ({ used, limit }: Count): boolean => used >= limit.requestsMax

/**
 * The share of a window, after its end, over which refused clients are spread, so that they do not return in one wave.
 */
const spreadShare = 0.25

/** The status of a refused request. `dice`, from 0 to 1, selects the instant of its return within the spread. */
export function refused(count: Count, now: Millis, dice: number): LimitStatus {
  const spreadSeconds = Math.max(1, (count.limit.windowMillis / 1_000) * spreadShare)
  const seconds = Math.max(1, Math.ceil((count.endsAt - now) / 1_000))
  const retryAfterSeconds = seconds + Math.floor(dice * (spreadSeconds + 1))
  return { ...passed(count, 0), retryAfterSeconds }
}

/** The limit that is shown if there is none: the largest number that every client can read. */
const unlimitedRequests = 2_147_483_647

/** The status of a caller without a limit. */
export const unlimited = (now: Millis): LimitStatus => ({
  limit: unlimitedRequests,
  remaining: unlimitedRequests,
  resetAtSeconds: (Math.floor(now / 60_000) + 1) * 60
})
