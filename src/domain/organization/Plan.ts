/**
 * Plans and their rate limits. A limit is a number of requests in a fixed window, for an organization with all its live
 * and test keys together.
 */
import { Schema } from "effect"

/** An organization's plan. */
export const Plan = Schema.Literals(["starter", "growth", "enterprise"])
export type Plan = typeof Plan.Type

/** A number of requests, 1 or more. */
const Requests = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** The request limits of an organization; absent: unlimited. */
export const RateLimits = Schema.Struct({
  adminApiPerMinute: Schema.optionalKey(Requests),
  consumerApiPerMinute: Schema.optionalKey(Requests),
  analyticsQueriesPerMinute: Schema.optionalKey(Requests),
  otpRequestsPerMinute: Schema.optionalKey(Requests),
  externalAuthorizationsPerMinute: Schema.optionalKey(Requests),
  queueEntriesPerMinute: Schema.optionalKey(Requests),
  queueEntriesPerSecond: Schema.optionalKey(Requests),
  auctionBidsPerMinute: Schema.optionalKey(Requests),
  auctionBidsPerSecond: Schema.optionalKey(Requests),
  drawEntriesPerMinute: Schema.optionalKey(Requests),
  drawEntriesPerSecond: Schema.optionalKey(Requests)
}).annotate({ identifier: "RateLimits" })
export type RateLimits = typeof RateLimits.Type

/** The limits per category, identical on every plan with fixed limits. */
const categories = {
  otpRequestsPerMinute: 10,
  externalAuthorizationsPerMinute: 100,
  queueEntriesPerMinute: 1_000,
  queueEntriesPerSecond: 100,
  auctionBidsPerMinute: 500,
  auctionBidsPerSecond: 50,
  drawEntriesPerMinute: 1_000,
  drawEntriesPerSecond: 100
} satisfies RateLimits

const starter = {
  ...categories,
  adminApiPerMinute: 500,
  consumerApiPerMinute: 2_000,
  analyticsQueriesPerMinute: 50
} satisfies RateLimits

const growth = {
  ...categories,
  adminApiPerMinute: 1_000,
  consumerApiPerMinute: 5_000,
  analyticsQueriesPerMinute: 100
} satisfies RateLimits

const unlimited: RateLimits = {}

/** The limits of the default plan, used when no organization is known. */
export const defaultRateLimits: Required<RateLimits> = growth

/**
 * Returns the limits of an organization. Its own limits apply only on `enterprise`, where they also replace the limits
 * per category.
 */
export const rateLimitsOf = (plan: Plan, own: RateLimits = unlimited): RateLimits =>
  plan === "enterprise" ? own : plan === "starter" ? starter : growth
