import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/auction/Auction.ts"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  bid,
  closed,
  complete,
  completed,
  denied,
  deny,
  dutch,
  enter,
  entered,
  expired,
  given,
  lost,
  placed,
  tornDown,
  won
} from "./history.ts"

describe("a dutch price", () => {
  const price = (auction: ReturnType<typeof given>, seconds: number) => auction.facts(seconds).currentPrice

  it("keeps the notation of configured prices, and shows those between with as many digits", () => {
    const auction = given(dutch({ startPrice: "100", floorPrice: "70.0", priceDropAmount: "15.50" }))
    assert.deepStrictEqual(
      [0, 9.999, 10, 20, 30].map((seconds) => price(auction, seconds)),
      ["100", "100", "84.50", "70.0", "70.0"]
    )
  })

  it("falls by the drop at the end of each interval since openAt, to the millisecond, down to the floor", () => {
    const auction = given(dutch({ openAt: at(5) }))
    const expected: ReadonlyArray<readonly [number, string]> = [
      [0, "100"],
      [5, "100"],
      [14.999, "100"],
      [15, "85"],
      [24.999, "85"],
      [25, "70"],
      [44.999, "55"],
      [45, "40"],
      [55, "40"],
      [59.999, "40"]
    ]
    for (const [seconds, amount] of expected) assert.strictEqual(price(auction, seconds), amount, `${seconds}`)
  })

  it("falls from the creation on without an openAt, whatever changes later", () => {
    const auction = given(dutch(), [], 3)
    auction.when(12.999, { _tag: "Configure", configuration: dutch({ name: "Another" }), by: "admin" })
    assert.strictEqual(price(auction, 12.999), "100")
    assert.strictEqual(price(auction, 13), "85")
  })

  it("ends at the floor even if the last drop would fall below it", () => {
    const auction = given(dutch({ floorPrice: "60" }))
    assert.deepStrictEqual([price(auction, 29), price(auction, 30), price(auction, 50)], ["70", "60", "60"])
  })

  it("is exact, however small and frequent its drops are", () => {
    const auction = given(
      dutch({
        startPrice: "0.3",
        floorPrice: "0",
        priceDropAmount: "0.1",
        priceDropIntervalSeconds: 1,
        settleAt: at(1e9)
      })
    )
    assert.deepStrictEqual(
      [1, 2, 3, 1e9 - 1].map((seconds) => price(auction, seconds)),
      ["0.2", "0.1", "0", "0"]
    )
  })

  it("is rounded up to a minor unit in an auction from before prices had to be in whole ones, and can be bid", () => {
    const rows = [
      ["JPY", "1000", "100", "0.5", ["1000", "1000", "999.0"]],
      ["JPY", "10.4", "9.5", "1", ["11", "10", "10"]],
      ["EUR", "1", "0.005", "0.333", ["1", "0.67", "0.34"]],
      ["KWD", "1", "0.1", "0.0004", ["1", "1.000", "1.000"]],
      ["COP", "10", "0.001", "3.3333", ["10", "6.67", "3.34"]]
    ] as const
    for (const [currencyCode, startPrice, floorPrice, priceDropAmount, prices] of rows) {
      const auction = given(dutch({ currencyCode, startPrice, floorPrice, priceDropAmount, quantity: 3 }))
      const shown = [0, 10, 20].map((seconds) => price(auction, seconds))
      assert.deepStrictEqual(shown, [...prices], currencyCode)
      for (const [index, amount] of shown.entries()) accepted(auction.when(index * 10, bid(`bidder ${index}`, amount)))
      assert.deepStrictEqual(
        auction.facts(20).leadingBids.map(({ amount }) => amount),
        shown,
        currencyCode
      )
    }
  })

  it("does not change after the auction has ended", () => {
    const auction = given(dutch({ quantity: 1 }))
    auction.when(15, bid("ada"))
    assert.strictEqual(price(auction, 55), "85")
    assert.strictEqual(price(given(dutch({ settleAt: at(12) })), 50), "85")
  })
})

describe("a dutch bid", () => {
  it("takes a unit at the current price, with its grant at once", () => {
    const auction = given(dutch({ admissionExpirationSeconds: 30 }))
    assert.deepStrictEqual(auction.when(12, bid("ada")), [entered(12, "ada"), placed(12, "ada", "85"), won(12, "ada")])
    assert.deepStrictEqual(auction.view(12, "ada"), {
      status: "WON",
      enteredAt: at(12),
      bidderHandle: auction.handle("ada"),
      bidCount: 1,
      lastBidAmount: "85",
      winningBidAmount: "85",
      wonAt: at(12),
      expiresAt: at(42),
      grantSequence: 4
    })
    assert.deepInclude(auction.facts(12), { remainingQuantity: 1, auctionEnded: false, currentPrice: "85" })
  })

  it("limits the price to its amount, and pays the price if that is less", () => {
    const auction = given(dutch())
    assertRefused(auction.when(9.999, bid("ada", "85")), "BidTooLow", { minimumBid: "100" })
    assert.strictEqual(auction.view(9.999, "ada").status, "NOT_BID")
    assert.deepInclude(accepted(auction.when(10, bid("ada", "85"))), placed(10, "ada", "85"))
    assert.deepInclude(accepted(auction.when(20, bid("bob", "1000"))), placed(20, "bob", "70"))
  })

  it("takes no second unit for its bidder, however often it is repeated", () => {
    const auction = given(dutch())
    auction.bids(1, ["ada", "100"])
    assert.deepStrictEqual(auction.when(2, bid("ada", "1")), [])
    assert.deepStrictEqual(auction.when(2, bid("ada")), [])
    auction.bids(3, ["bob", "100"])
    assert.deepStrictEqual(auction.when(4, bid("ada")), [])
    assert.deepStrictEqual(auction.when(5, complete("ada")), [completed(5, "ada")])
    assertRefused(auction.when(6, bid("ada")), "SoldOut")
  })

  it("ends and settles the auction with the last unit", () => {
    const auction = given(dutch(), [entered(1, "zoe")])
    auction.bids(2, ["ada", "100"])
    assert.deepStrictEqual(auction.when(3, bid("bob")), [
      entered(3, "bob"),
      placed(3, "bob", "100"),
      won(3, "bob"),
      closed(3)
    ])
    assertRefused(auction.unnoticed(3, bid("eve")), "SoldOut")
    assertRefused(auction.unnoticed(3, enter("eve")), "SoldOut")
    assertRefused(auction.unnoticed(99, bid("zoe")), "SoldOut")
    assert.deepStrictEqual(auction.until(3), [lost(3, "zoe")])
    assert.deepInclude(auction.facts(3), { remainingQuantity: 0, auctionEnded: true })
    assert.strictEqual(decider.lifecycle(auction.state, at(4)), "settling")
    auction.when(4, complete("ada"))
    auction.when(5, complete("bob"))
    assert.deepStrictEqual(auction.until(5), [tornDown(5)])
  })

  it("is too early before openAt and too late at closeAt", () => {
    const auction = given(dutch({ openAt: at(10) }))
    assertRefused(auction.when(9.999, bid("ada")), "NotOpen", { opensAt: at(10) })
    assertRefused(auction.unnoticed(60, bid("ada")), "Closed")
    assert.deepInclude(accepted(auction.when(59.999, bid("ada"))), placed(59.999, "ada", "40"))
    assertRefused(auction.when(60, bid("bob")), "Closed")
  })

  it("is refused to a denied bidder", () => {
    const auction = given(dutch(), [entered(1, "ada"), denied(1, "ada")])
    assertRefused(auction.when(2, bid("ada")), "WrongStatus", { status: "DENIED" })
  })
})

describe("a dutch auction", () => {
  it("is settled at settleAt if it was not sold out", () => {
    const auction = given(dutch({ closeAt: at(60), settleAt: at(90) }), [entered(1, "zoe")])
    auction.bids(2, ["ada", "100"])
    assert.deepStrictEqual(auction.until(90), [closed(60), lost(90, "zoe")])
    assert.strictEqual(auction.facts(90).remainingQuantity, 1)
  })

  it("shows its sales as the leading bids, the highest first", () => {
    const auction = given(dutch({ quantity: 3 }))
    auction.bids(1, ["ada", "100"])
    auction.bids(10, ["bob", "100"])
    assert.deepStrictEqual(auction.facts(20).leadingBids, [
      { bidderHandle: auction.handle("ada"), amount: "100", placedAt: at(1) },
      { bidderHandle: auction.handle("bob"), amount: "85", placedAt: at(10) }
    ])
  })

  it("gives a unit to no other bidder when its grant expires or is denied", () => {
    const auction = given(dutch({ admissionExpirationSeconds: 10 }))
    auction.bids(1, ["ada", "100"], ["bob", "100"])
    assert.deepStrictEqual(auction.when(5, deny("ada")), [denied(5, "ada")])
    assertRefused(auction.when(6, bid("eve")), "SoldOut")
    assert.deepStrictEqual(auction.until(12), [expired(12, "bob"), tornDown(12)])
  })
})
