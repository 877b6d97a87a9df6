import { assert, describe, it } from "vitest"
import { loadTestLimits, limitsWithPermission } from "../../../src/domain/organization/LoadTestPermission.ts"
import { rateLimitsOf } from "../../../src/domain/organization/Plan.ts"

describe("a permission for load tests", () => {
  const own = rateLimitsOf("starter")
  const permission = { until: 1_000, perSecond: 5_000 }

  it("replaces the organization's limits until it ends, with values of one identity", () => {
    let now = 0
    const limits = limitsWithPermission(own, permission, () => now)
    assert.deepStrictEqual(limits(), loadTestLimits(permission))
    assert.strictEqual(limits(), limits())
    now = 999
    assert.strictEqual(limits().queueEntriesPerSecond, 5_000)
    now = 1_000
    assert.strictEqual(limits(), own)
  })

  it("bounds the requests and entries that load consists of, and nothing else", () => {
    assert.deepStrictEqual(loadTestLimits(permission), {
      consumerApiPerMinute: 300_000,
      queueEntriesPerSecond: 5_000,
      auctionBidsPerSecond: 5_000,
      drawEntriesPerSecond: 5_000
    })
  })
})
