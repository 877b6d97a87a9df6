import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/auction/Auction.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { arrives, giveBack, stockId, taken } from "../mechanism/support/units.ts"
import { at, bid, complete, deny, dutch, english, given, lost, reinstated, tornDown, won } from "./history.ts"

const report = (auction: ReturnType<typeof given>) => decider.units!(auction.state)!

describe("an english auction with a stock", () => {
  it("refuses bids before units come, and lets as many lead as it has units", () => {
    const auction = given(english({ stockId, quantity: 3 }))
    assertRefused(auction.when(1, bid("a", "10")), "SoldOut")
    assert.strictEqual(report(auction).needed, 3)
    auction.when(2, arrives(1))
    auction.when(3, bid("a", "10"))
    auction.when(4, bid("b", "20"))
    assert.deepStrictEqual([auction.view(5, "a").status, auction.view(5, "b").status], ["OUTBID", "WINNING"])
    assert.strictEqual(decider.facts!(auction.state, at(5)).remainingQuantity, 1)
  })

  it("lets the next best bid lead with a unit that comes later", () => {
    const auction = given(english({ stockId, quantity: 3 }))
    auction.when(2, arrives(1))
    auction.when(3, bid("a", "10"))
    auction.when(4, bid("b", "20"))
    auction.when(5, arrives(1, 2))
    assert.deepStrictEqual(auction.until(5), [reinstated(5, "a")])
  })

  it("keeps the units of its leaders, settles them, and gives the others back", () => {
    const auction = given(english({ stockId, quantity: 2 }))
    auction.when(2, arrives(2))
    auction.when(3, bid("a", "10"))
    auction.when(4, giveBack(9))
    assert.deepInclude(report(auction), { units: 1, held: 1 })
    assertRefused(auction.when(5, bid("b", "10")), "BidTooLow", { minimumBid: "11" })
    assert.deepInclude(auction.until(60), won(60, "a"))
    auction.when(61, taken(1))
    auction.when(62, complete("a"))
    assert.deepStrictEqual(auction.until(63), [tornDown(62)])
    assert.deepInclude(report(auction), { units: 0, sold: 1 })
  })

  it("gives back the unit of a win that was denied", () => {
    const auction = given(english({ stockId }))
    auction.when(2, arrives(1))
    auction.when(3, bid("a", "10"))
    auction.when(4, bid("b", "20"))
    assert.deepInclude(auction.until(60), lost(60, "a"))
    auction.when(70, deny("b"))
    assert.deepInclude(auction.until(70)[0], { _tag: "UnitsLeft", units: 1 })
  })
})

describe("a dutch auction with a stock", () => {
  it("sells as many units as it has, and goes on when others come", () => {
    const auction = given(dutch({ stockId }))
    auction.when(1, arrives(1))
    auction.when(2, bid("a"))
    assertRefused(auction.when(3, bid("b")), "SoldOut")
    auction.when(4, arrives(1, 2))
    auction.when(5, bid("b"))
    assert.strictEqual(auction.view(6, "b").status, "WON")
    assert.deepInclude(report(auction), { units: 2, held: 2, isOpen: false })
  })
})
