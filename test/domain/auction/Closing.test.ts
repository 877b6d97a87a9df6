import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/auction/Auction.ts"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import { at, closed, dutch, end, english, given, lost, won } from "./history.ts"

const closeNow = { _tag: "CloseNow", by: "ada" } as const

describe("an auction that is closed before its time", () => {
  it("takes no more bids, and its leading bids win at once", () => {
    const auction = given(english({ autoExtendSeconds: 30 }))
    auction.bids(1, ["ada", "10"])
    auction.bids(2, ["bob", "12"])
    assert.lengthOf(accepted(auction.when(5, closeNow)), 1)
    assert.deepStrictEqual(auction.until(5), [closed(5), won(5, "bob"), lost(5, "ada")])
    assert.strictEqual(decider.lifecycle(auction.state, at(6)), "settling")
  })

  it("keeps what a dutch auction has sold", () => {
    const auction = given(dutch())
    auction.bids(1, ["ada", "100"])
    auction.when(5, closeNow)
    assert.strictEqual(auction.view(6, "ada").status, "WON")
  })

  it("is refused before the opening, after the closing, and after an end", () => {
    assertRefused(given(english({ openAt: at(10) })).when(5, closeNow), "NotOpen", { opensAt: at(10) })
    assertRefused(given(english()).when(61, closeNow), "Closed")
    const called = given(english())
    called.when(1, end)
    assertRefused(called.when(2, closeNow), "Closed")
  })
})
