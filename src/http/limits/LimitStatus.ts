/** How a caller stands with its limits, as answers say it in their headers. */
import type { Millis } from "../../domain/values/Time.ts"
import type { Count } from "./Counts.ts"

/** What is told of a limit where there is none: the largest number that every client can read. */
const unlimitedRequests = 2_147_483_647

/** Refused clients come back within this part of a window after its end, so that they do not come in one wave. */
const spreadShare = 0.25

/** How a caller stands with the limit that has the least remaining. */
export interface LimitStatus {
  readonly limit: number
  readonly remaining: number
  /** When the window ends, in seconds since the epoch. */
  readonly resetAtSeconds: number
  /** Whole seconds, 1 or more, until a refused request should be tried again; absent if it passed. */
  readonly retryAfterSeconds?: number
}

/** The status of a request that has passed. */
export const standing = (count: Count, remaining: number): LimitStatus => ({
  limit: count.limit.requestsMax,
  remaining,
  resetAtSeconds: count.endsAt / 1_000
})

/** True if the count takes no more requests. */
export const isFull = ({ used, limit }: Count): boolean => used >= limit.requestsMax

/** `dice` from 0 to 1 says when within the spread to come back. */
export function refused(count: Count, now: Millis, dice: number): LimitStatus {
  const spreadSeconds = Math.max(1, (count.limit.windowMillis / 1_000) * spreadShare)
  const seconds = Math.max(1, Math.ceil((count.endsAt - now) / 1_000))
  const retryAfterSeconds = seconds + Math.floor(dice * (spreadSeconds + 1))
  return { ...standing(count, 0), retryAfterSeconds }
}

/** The status of a caller without a limit. */
export const unlimited = (now: Millis): LimitStatus => ({
  limit: unlimitedRequests,
  remaining: unlimitedRequests,
  resetAtSeconds: (Math.floor(now / 60_000) + 1) * 60
})
