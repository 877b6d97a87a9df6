import { assert, describe, it } from "@effect/vitest"
import { at, english, given } from "./history.ts"

describe("an extension of an auction", () => {
  const extend = { _tag: "Extend", to: { seconds: 30 }, by: "admin" } as const

  it("moves the closing and the settlement as a late bid does, once", () => {
    const auction = given(english())
    auction.bids(1, ["ada", "10"])
    assert.deepStrictEqual(auction.when(50, extend), [{ _tag: "Extended", at: at(50), closeAt: at(90), by: "admin" }])
    assert.deepStrictEqual(auction.when(70, { ...extend, to: { until: at(80) } }), [])
    auction.bids(89, ["bob", "11"])
    auction.until(90)
    assert.deepInclude(auction.view(90, "bob"), { status: "WON", wonAt: at(90) })
  })

  it("moves the grants of winners after the closing, and not the closing", () => {
    const auction = given(english({ admissionExpirationSeconds: 20 }))
    auction.bids(1, ["ada", "10"])
    auction.until(60)
    const moved = { _tag: "GrantExtended", at: at(70), consumerId: "ada", expiresAt: at(110), by: "admin" } as const
    assert.deepStrictEqual(auction.when(70, extend), [moved])
    assert.deepInclude(auction.view(100, "ada"), { status: "WON", expiresAt: at(110) })
    assert.deepStrictEqual(auction.when(71, { ...extend, after: "ada" }), [])
    auction.until(110)
    assert.deepInclude(auction.view(111, "ada"), { status: "DENIED", reason: "ADMISSION_EXPIRED" })
    assert.deepStrictEqual(auction.when(112, extend), [])
  })
})
