import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { defaultRateLimits, RateLimits, rateLimitsOf } from "../../../src/domain/organization/Plan.ts"

describe("the limits of a plan", () => {
  it("are those that the API promises", () => {
    const categories = {
      otpRequestsPerMinute: 10,
      externalAuthorizationsPerMinute: 100,
      queueEntriesPerMinute: 1_000,
      queueEntriesPerSecond: 100,
      auctionBidsPerMinute: 500,
      auctionBidsPerSecond: 50,
      drawEntriesPerMinute: 1_000,
      drawEntriesPerSecond: 100
    }
    assert.deepStrictEqual(rateLimitsOf("starter"), {
      ...categories,
      adminApiPerMinute: 500,
      consumerApiPerMinute: 2_000,
      analyticsQueriesPerMinute: 50
    })
    assert.deepStrictEqual(rateLimitsOf("growth"), {
      ...categories,
      adminApiPerMinute: 1_000,
      consumerApiPerMinute: 5_000,
      analyticsQueriesPerMinute: 100
    })
    assert.strictEqual<RateLimits>(defaultRateLimits, rateLimitsOf("growth"))
  })

  it("are an organization's own numbers on enterprise alone, and there replace all others", () => {
    const own = { queueEntriesPerMinute: 7 }
    assert.deepStrictEqual(rateLimitsOf("enterprise", own), own)
    assert.deepStrictEqual(rateLimitsOf("enterprise"), {})
    assert.strictEqual(rateLimitsOf("starter", own), rateLimitsOf("starter"))
    assert.strictEqual(rateLimitsOf("growth", own), rateLimitsOf("growth"))
  })

  it("are whole numbers from 1", () => {
    const decode = Schema.decodeUnknownExit(RateLimits)
    assert.isTrue(Exit.isSuccess(decode({ adminApiPerMinute: 1 })))
    for (const wrong of [0, -1, 1.5, "5", null]) {
      assert.isTrue(Exit.isFailure(decode({ adminApiPerMinute: wrong })), `${wrong}`)
    }
  })
})
