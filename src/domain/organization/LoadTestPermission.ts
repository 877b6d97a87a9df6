/**
 * The operator's permission to load an organization's test mode: for its time, the organization's own limits make way for one
 * that the operator has named. Live mode keeps its limits.
 */
import { Schema } from "effect"
import type { Millis } from "../values/Time.ts"
import type { RateLimits } from "./Plan.ts"

/** The longest permission, in minutes. */
export const permissionMinutesMax = 1_440

/** The most requests a second that a permission may name. */
export const permissionPerSecondMax = 100_000

export const LoadTestPermission = Schema.Struct({
  /** Milliseconds since 1970. */
  until: Schema.Int,
  /** Requests a second of the Consumer API. */
  perSecond: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: permissionPerSecondMax }))
})
export type LoadTestPermission = typeof LoadTestPermission.Type

/** The limits of test mode under a permission. */
export const loadTestLimits = ({ perSecond }: LoadTestPermission): RateLimits => ({
  consumerApiPerMinute: perSecond * 60,
  queueEntriesPerSecond: perSecond,
  auctionBidsPerSecond: perSecond,
  drawEntriesPerSecond: perSecond
})

/** Returns the limits that hold at each moment. The values keep their identity, by which gates remember them. */
export function limitsWithPermission(
  own: RateLimits,
  permission: LoadTestPermission,
  now: () => Millis
): () => RateLimits {
  const lifted = loadTestLimits(permission)
  return () => (now() < permission.until ? lifted : own)
}
