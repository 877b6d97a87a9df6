import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/auction/Auction.ts"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  bid,
  closed,
  complete,
  denied,
  deny,
  english,
  enter,
  entered,
  extended,
  given,
  lost,
  outbid,
  placed,
  reinstated,
  remove,
  tornDown,
  won
} from "./history.ts"

describe("entering an auction", () => {
  it("gives a place without a bid", () => {
    const auction = given()
    assert.deepStrictEqual(auction.view(0, "ada"), { status: "NOT_BID", bidCount: 0 })
    assert.deepStrictEqual(auction.when(1, enter("ada")), [entered(1, "ada")])
    assert.deepStrictEqual(auction.view(1, "ada"), {
      status: "BIDDING",
      enteredAt: at(1),
      bidderHandle: auction.handle("ada"),
      bidCount: 0
    })
  })

  it("twice has the same effect as once, whatever happened in between", () => {
    const auction = given(english(), [entered(1, "ada")])
    assert.deepStrictEqual(auction.when(2, enter("ada")), [])
    auction.bids(3, ["ada", "10"], ["bob", "11"])
    assert.deepStrictEqual(auction.when(5, enter("ada")), [])
    assert.deepStrictEqual(auction.when(70, enter("ada")), [])
  })

  it("is possible from openAt until closeAt, to the millisecond", () => {
    const auction = given(english({ openAt: at(10) }))
    assertRefused(auction.when(9.999, enter("ada")), "NotOpen", { opensAt: at(10) })
    assert.deepStrictEqual(auction.when(10, enter("ada")), [entered(10, "ada")])
    assert.deepStrictEqual(auction.when(59.999, enter("bob")), [entered(59.999, "bob")])
    assertRefused(auction.when(60, enter("eve")), "Closed")
  })
})

describe("an english bid", () => {
  it("enters its bidder, and leads", () => {
    const auction = given()
    assert.deepStrictEqual(auction.when(1, bid("ada", "10")), [entered(1, "ada"), placed(1, "ada", "10")])
    assert.deepStrictEqual(auction.view(1, "ada"), {
      status: "WINNING",
      enteredAt: at(1),
      bidderHandle: auction.handle("ada"),
      bidCount: 1,
      lastBidAmount: "10"
    })
  })

  it("keeps its notation in every computed value", () => {
    const auction = given(english({ startPrice: "10.0", minBidIncrement: "0.50" }))
    assert.strictEqual(auction.facts(0).currentPrice, "10.0")
    assertRefused(auction.when(1, bid("ada", "9.99")), "BidTooLow", { minimumBid: "10.0" })
    auction.bids(2, ["ada", "19.90"])
    assert.deepInclude(auction.view(2, "ada"), { lastBidAmount: "19.90" })
    assert.deepInclude(auction.facts(2), { currentPrice: "19.90" })
    assertRefused(auction.when(3, bid("bob", "20.3")), "BidTooLow", { minimumBid: "20.40" })
    assertRefused(auction.when(3, bid("ada", "19.9")), "BidTooLow", { minimumBid: "20.40" })
    auction.bids(4, ["bob", "020.400"])
    assert.deepStrictEqual(
      auction.facts(4).latestBids.map(({ amount }) => amount),
      ["020.400", "19.90"]
    )
  })

  it("needs an amount", () => {
    assertRefused(given().when(1, bid("ada")), "AmountMissing")
  })

  it("must reach the start price, which is enough while there are units for all leaders", () => {
    const auction = given(english({ quantity: 2 }))
    assertRefused(auction.when(1, bid("ada", "9.99")), "BidTooLow", { minimumBid: "10" })
    auction.bids(1, ["ada", "50"], ["bob", "10"])
    assert.deepStrictEqual(auction.status(3, "ada", "bob"), ["WINNING", "WINNING"])
  })

  it("must beat the lowest leading bid by the increment once there is a leader for each unit", () => {
    const auction = given(english({ quantity: 2, minBidIncrement: "2.5" }))
    auction.bids(1, ["ada", "50"], ["bob", "10"])
    assertRefused(auction.when(3, bid("eve", "12.49")), "BidTooLow", { minimumBid: "12.5" })
    assert.deepStrictEqual(auction.when(3, bid("eve", "12.5")), [
      entered(3, "eve"),
      placed(3, "eve", "12.5"),
      outbid(3, "bob")
    ])
    assert.deepStrictEqual(auction.status(3, "ada", "bob", "eve"), ["WINNING", "OUTBID", "WINNING"])
  })

  it("must exceed the bidder's own last bid by a minor unit of the currency", () => {
    const auction = given(english({ quantity: 3 }))
    auction.bids(1, ["ada", "20"])
    assertRefused(auction.when(2, bid("ada", "20")), "BidTooLow", { minimumBid: "20.01" })
    assertRefused(auction.when(2, bid("ada", "19")), "BidTooLow", { minimumBid: "20.01" })
    assert.deepStrictEqual(auction.when(2, bid("ada", "20.01")), [placed(2, "ada", "20.01")])
  })

  it("needs the same increment from a leader that raises its own, and takes no second unit", () => {
    const single = given()
    single.bids(1, ["ada", "10"])
    assertRefused(single.when(2, bid("ada", "10.5")), "BidTooLow", { minimumBid: "11" })
    assert.deepStrictEqual(single.when(2, bid("ada", "11")), [placed(2, "ada", "11")])

    const pair = given(english({ quantity: 2 }))
    pair.bids(1, ["ada", "50"], ["bob", "10"])
    assert.deepStrictEqual(pair.when(3, bid("ada", "50.1")), [placed(3, "ada", "50.1")])
    assertRefused(pair.when(4, bid("bob", "10.5")), "BidTooLow", { minimumBid: "11" })
    assert.deepStrictEqual(pair.when(4, bid("bob", "60")), [placed(4, "bob", "60")])
    assert.deepStrictEqual(
      pair.facts(4).leadingBids.map(({ amount }) => amount),
      ["60", "50.1"]
    )
  })

  it("is outbid before an earlier one of the same amount", () => {
    const auction = given(english({ quantity: 3 }))
    auction.bids(1, ["ada", "10"], ["bob", "10"], ["eve", "10"])
    assert.deepInclude(accepted(auction.when(4, bid("joe", "11"))), outbid(4, "eve"))
    assert.deepInclude(accepted(auction.when(5, bid("kim", "11"))), outbid(5, "bob"))
    assert.deepStrictEqual(
      auction.facts(5).leadingBids.map(({ bidderHandle }) => bidderHandle),
      ["joe", "kim", "ada"].map((bidder) => auction.handle(bidder))
    )
  })

  it("leads again if it was outbid and is raised", () => {
    const auction = given()
    auction.bids(1, ["ada", "10"], ["bob", "11"])
    assert.deepStrictEqual(auction.when(3, bid("ada", "12")), [placed(3, "ada", "12"), outbid(3, "bob")])
    assert.deepInclude(auction.view(3, "ada"), { status: "WINNING", bidCount: 2, lastBidAmount: "12" })
  })

  it("is exact for amounts that a floating point number cannot represent", () => {
    const auction = given(english({ startPrice: "999999999999.97", minBidIncrement: "0.01" }))
    auction.bids(1, ["ada", "999999999999.97"])
    assertRefused(auction.when(2, bid("bob", "999999999999.97")), "BidTooLow", { minimumBid: "999999999999.98" })
    auction.bids(2, ["bob", "999999999999.98"])
  })

  it("is too early before openAt and too late at closeAt, to the millisecond, noticed or not", () => {
    const auction = given(english({ openAt: at(10) }))
    assertRefused(auction.when(9.999, bid("ada", "10")), "NotOpen", { opensAt: at(10) })
    auction.bids(10, ["ada", "10"])
    assertRefused(auction.unnoticed(60, bid("bob", "99")), "Closed")
    auction.bids(59.999, ["bob", "11"])
    assertRefused(auction.when(60, bid("ada", "99")), "Closed")
    assertRefused(auction.when(99, bid("ada", "99")), "Closed")
  })

  it("is refused to a denied bidder", () => {
    const auction = given(english(), [entered(1, "ada"), denied(2, "ada")])
    assertRefused(auction.when(3, bid("ada", "10")), "WrongStatus", { status: "DENIED" })
  })
})

describe("the soft close", () => {
  const soft = english({ closeAt: at(60), settleAt: at(70), autoExtendSeconds: 20 })

  it("lets a bid within autoExtendSeconds of closeAt move it to the bid's time plus autoExtendSeconds", () => {
    const auction = given(soft)
    assert.deepStrictEqual(auction.when(40, bid("ada", "10")), [entered(40, "ada"), placed(40, "ada", "10")])
    assert.deepStrictEqual(auction.when(40.001, bid("bob", "11")), [
      entered(40.001, "bob"),
      placed(40.001, "bob", "11"),
      outbid(40.001, "ada"),
      extended(40.001, 60.001)
    ])
    assert.deepInclude(decider.configurationOf(auction.state), { closeAt: at(60.001), settleAt: at(70) })
    assert.strictEqual(decider.wakeAt(auction.state), at(60.001))
  })

  it("happens at each such bid, and moves the settlement if it would be earlier", () => {
    const auction = given(soft)
    auction.bids(59.999, ["ada", "10"])
    assert.deepStrictEqual(accepted(auction.when(79.998, bid("bob", "11"))).at(-1), extended(79.998, 99.998))
    assertRefused(auction.unnoticed(99.998, bid("ada", "12")), "Closed")
    assert.deepInclude(decider.configurationOf(auction.state), { closeAt: at(99.998), settleAt: at(99.998) })
    assert.deepStrictEqual(auction.until(200), [closed(99.998), won(99.998, "bob"), lost(99.998, "ada")])
  })

  it("does not happen twice in one millisecond, nor for a refused bid", () => {
    const auction = given(soft)
    auction.when(50, bid("ada", "10"))
    assert.deepStrictEqual(auction.when(50, bid("bob", "11")), [
      entered(50, "bob"),
      placed(50, "bob", "11"),
      outbid(50, "ada")
    ])
    assertRefused(auction.when(69, bid("eve", "11.5")), "BidTooLow", { minimumBid: "12" })
    assert.strictEqual(decider.configurationOf(auction.state).closeAt, at(70))
  })
})

describe("the settlement", () => {
  it("gives the leaders their units at settleAt, the best bid first, and no unit to other bidders", () => {
    const auction = given(english({ closeAt: at(60), settleAt: at(90), quantity: 2, admissionExpirationSeconds: 30 }))
    auction.bids(1, ["ada", "10"], ["bob", "12"], ["eve", "11"])
    auction.when(5, enter("joe"))
    assert.deepStrictEqual(auction.until(89.999), [closed(60)])
    assert.deepStrictEqual(auction.status(89.999, "ada", "bob", "eve", "joe"), [
      "OUTBID",
      "WINNING",
      "WINNING",
      "BIDDING"
    ])
    assert.deepStrictEqual(auction.until(90), [won(90, "bob"), won(90, "eve"), lost(90, "ada"), lost(90, "joe")])
    assert.deepStrictEqual(auction.view(90, "bob"), {
      status: "WON",
      enteredAt: at(2),
      bidderHandle: auction.handle("bob"),
      bidCount: 1,
      lastBidAmount: "12",
      winningBidAmount: "12",
      wonAt: at(90),
      expiresAt: at(120),
      grantSequence: auction.events.findIndex((event) => event._tag === "Won") + 1
    })
    assert.deepStrictEqual(auction.view(90, "joe"), {
      status: "LOST",
      enteredAt: at(5),
      bidderHandle: auction.handle("joe"),
      bidCount: 0,
      lostAt: at(90)
    })
    assert.deepStrictEqual(
      auction.facts(90).leadingBids.map(({ amount }) => amount),
      ["12", "11"]
    )
    assert.strictEqual(auction.facts(90).remainingQuantity, 0)
  })

  it("gives no unit to a leader below the reserve, and one to each leader at it", () => {
    const auction = given(english({ quantity: 3, reservePrice: "20" }))
    auction.bids(1, ["ada", "19.99"], ["bob", "20"], ["eve", "30"])
    assert.deepStrictEqual(auction.status(5, "ada"), ["WINNING"])
    assert.deepStrictEqual(auction.until(60), [closed(60), won(60, "eve"), won(60, "bob"), lost(60, "ada")])
    assert.strictEqual(auction.facts(60).remainingQuantity, 1)
  })

  it("shows the reserve to the admin alone", () => {
    const auction = given(english({ reservePrice: "77.77" }))
    auction.bids(1, ["ada", "10"])
    const told = [auction.view(2, "ada"), auction.facts(2), decider.place(auction.state, "ada")]
    for (const text of told.map((answer) => JSON.stringify(answer, (_, value) => `${value}`))) {
      assert.notInclude(text, "77")
      assert.notInclude(text, "eserve")
    }
  })

  it("tears down an auction without bidders", () => {
    const auction = given(english({ closeAt: at(60), settleAt: at(90) }))
    assert.deepStrictEqual(auction.until(1000), [closed(60), tornDown(90)])
  })

  it("makes the grants: completing is refused before it", () => {
    const auction = given(english({ closeAt: at(60), settleAt: at(90) }))
    auction.bids(1, ["ada", "10"])
    assertRefused(auction.when(70, complete("ada")), "WrongStatus", { status: "WINNING" })
  })
})

describe("an archived bidder", () => {
  it("cannot win: the next best bid leads in its place, and its own stays among the placed bids", () => {
    const auction = given(english(), [entered(1, "zoe")])
    auction.bids(1, ["ada", "10"], ["bob", "11"])
    assert.deepStrictEqual(auction.when(5, remove("bob")), [denied(5, "bob", "ADMIN_ACTION"), reinstated(5, "ada")])
    assert.deepStrictEqual(auction.when(5, remove("zoe")), [denied(5, "zoe", "ADMIN_ACTION")])
    assert.deepStrictEqual(
      auction.facts(5).latestBids.map(({ amount }) => amount),
      ["11", "10"]
    )
    assert.deepStrictEqual(auction.until(60), [closed(60), won(60, "ada")])
  })

  it("loses a unit it has won, which no other bidder gets, but keeps one it has completed", () => {
    const auction = given(english({ quantity: 2 }))
    auction.bids(1, ["ada", "10"], ["bob", "11"], ["eve", "12"])
    auction.until(60)
    auction.when(61, complete("eve"))
    assert.deepStrictEqual(auction.when(62, remove("bob")), [denied(62, "bob", "ADMIN_ACTION")])
    for (const name of ["ada", "bob", "eve", "nobody"]) assert.deepStrictEqual(auction.when(63, remove(name)), [])
    assert.deepStrictEqual(auction.status(64, "ada", "bob", "eve"), ["LOST", "DENIED", "COMPLETED"])
  })
})

describe("denying a bidder", () => {
  it("lets the next best bid lead again in place of a leader", () => {
    const auction = given(english({ quantity: 2 }))
    auction.bids(1, ["ada", "10"], ["bob", "11"], ["eve", "12"], ["joe", "13"])
    assert.deepStrictEqual(auction.when(5, deny("joe")), [denied(5, "joe"), reinstated(5, "bob")])
    assert.deepStrictEqual(auction.status(5, "ada", "bob", "eve", "joe"), ["OUTBID", "WINNING", "WINNING", "DENIED"])
    assertRefused(auction.when(6, bid("kim", "11.5")), "BidTooLow", { minimumBid: "12" })
  })

  it("makes the start price enough again if no other bid is left, even if a consumer has entered", () => {
    const auction = given(english(), [entered(1, "ada")])
    auction.bids(2, ["bob", "50"])
    assert.deepStrictEqual(auction.when(3, deny("bob")), [denied(3, "bob")])
    assert.deepStrictEqual(auction.when(4, bid("ada", "10")), [placed(4, "ada", "10")])
  })

  it("changes no other place if the bidder does not lead", () => {
    const auction = given(english(), [entered(1, "joe")])
    auction.bids(1, ["ada", "10"], ["bob", "11"])
    assert.deepStrictEqual(auction.when(3, deny("ada")), [denied(3, "ada")])
    assert.deepStrictEqual(auction.when(4, deny("joe")), [denied(4, "joe")])
    assert.deepStrictEqual(auction.view(4, "ada"), {
      status: "DENIED",
      enteredAt: at(1),
      bidderHandle: auction.handle("ada"),
      bidCount: 1,
      lastBidAmount: "10",
      reason: "FRAUD_DETECTED",
      deniedAt: at(3)
    })
  })

  it("between closing and settlement gives the unit to the next best", () => {
    const auction = given(english({ closeAt: at(60), settleAt: at(90) }))
    auction.bids(1, ["ada", "10"], ["bob", "11"])
    auction.when(70, deny("bob"))
    assert.deepStrictEqual(auction.until(90), [won(90, "ada")])
  })

  it("twice has the same effect as once", () => {
    assert.deepStrictEqual(given(english(), [entered(1, "ada"), denied(2, "ada")]).when(3, deny("ada")), [])
  })

  it("is refused for a consumer that never entered, lost or completed", () => {
    const auction = given(english())
    auction.bids(1, ["ada", "10"], ["bob", "11"])
    assertRefused(auction.when(2, deny("zoe")), "WrongStatus", { status: "NOT_BID" })
    auction.until(60)
    assertRefused(auction.when(60, deny("ada")), "WrongStatus", { status: "LOST" })
    auction.when(61, complete("bob"))
    assertRefused(auction.when(62, deny("bob")), "WrongStatus", { status: "COMPLETED" })
  })
})
