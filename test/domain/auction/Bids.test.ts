import { assert, describe, it } from "@effect/vitest"
import { type Bid, decider } from "../../../src/domain/auction/Auction.ts"
import { orderOf, type State } from "../../../src/domain/auction/State.ts"
import { ofText } from "../../../src/domain/values/Amount.ts"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import { at, bid, denied, english, enter, entered, given, History, won } from "./history.ts"

describe("the public facts of an auction", () => {
  const amounts = (bids: ReadonlyArray<Bid>) => bids.map(({ amount }) => amount)

  it("contain the leading bids, the best first, and every accepted bid, the newest first", () => {
    const auction = given(english({ quantity: 2 }))
    auction.bids(1, ["ada", "10"], ["bob", "12"], ["ada", "13"], ["eve", "15"])
    assert.deepStrictEqual(amounts(auction.facts(5).leadingBids), ["15", "13"])
    assert.deepStrictEqual(amounts(auction.facts(5).latestBids), ["15", "13", "12", "10"])
    assert.deepStrictEqual(auction.facts(5).leadingBids[0], {
      bidderHandle: auction.handle("eve"),
      amount: "15",
      placedAt: at(4)
    })
  })

  it("contain at most a hundred bids in each list", () => {
    const auction = given(english({ quantity: 150 }))
    for (let n = 0; n < 130; n++) auction.bids(n / 10, [`bidder ${n}`, `${10 + n}`])
    assert.strictEqual(auction.facts(20).leadingBids.length, 100)
    assert.deepStrictEqual(amounts(auction.facts(20).leadingBids).slice(0, 2), ["139", "138"])
    assert.deepStrictEqual(amounts(auction.facts(20).latestBids), amounts(auction.facts(20).leadingBids))
    auction.until(60)
    assert.strictEqual(auction.facts(60).leadingBids.length, 100)
    assert.deepStrictEqual(amounts(auction.facts(60).leadingBids).at(-1), "40")
  })

  it("show the start price until there is a leading bid for each unit, then the lowest leading bid", () => {
    const auction = given(english({ quantity: 2 }))
    const price = (seconds: number) => auction.facts(seconds).currentPrice
    assert.strictEqual(price(0), "10")
    auction.bids(1, ["ada", "30"])
    assert.strictEqual(price(1), "10")
    auction.bids(2, ["bob", "20"])
    assert.strictEqual(price(2), "20")
    auction.until(60)
    assert.strictEqual(price(60), "20")
  })

  it("show from closeAt on that the auction has ended, and after the settlement which units are left", () => {
    const auction = given(english({ quantity: 2, closeAt: at(60), settleAt: at(90) }))
    auction.bids(1, ["ada", "30"])
    assert.deepInclude(auction.facts(59.999), { auctionEnded: false, remainingQuantity: 2 })
    assert.deepInclude(auction.facts(60), { auctionEnded: true, remainingQuantity: 2 })
    auction.until(90)
    assert.deepInclude(auction.facts(90), { auctionEnded: true, remainingQuantity: 1 })
  })

  it("do not change after a caller has received them", () => {
    const auction = given()
    auction.bids(1, ["ada", "10"])
    const before = auction.facts(2)
    const shown = structuredClone(before)
    auction.bids(3, ["bob", "11"], ["ada", "12"])
    auction.until(60)
    assert.deepStrictEqual(before, shown)
  })

  it("do not identify the bidder, but show which bids are from the same one", () => {
    const auction = given()
    auction.bids(1, ["ada", "10"], ["bob", "11"], ["ada", "12"])
    const [last, middle, first] = auction.facts(4).latestBids
    assert.match(last!.bidderHandle, /^[0-9a-f]{16}$/)
    assert.strictEqual(last!.bidderHandle, first!.bidderHandle)
    assert.notStrictEqual(middle!.bidderHandle, first!.bidderHandle)
    const elsewhere = new History()
    elsewhere.apply({
      _tag: "Configured",
      at: at(0),
      configuration: english(),
      by: "admin",
      handleSalt: "ff".repeat(16)
    })
    elsewhere.when(1, enter("ada"))
    assert.notStrictEqual(elsewhere.handle("ada"), auction.handle("ada"))
  })
})

describe("a bidder's row for search and lists", () => {
  it("contains the fields of its status, instants and amounts as text", () => {
    const auction = given(english({ admissionExpirationSeconds: 10 }), [entered(1, "zoe")])
    auction.bids(1, ["ada", "10.50"], ["bob", "12"])
    const row = (consumerId: string) => decider.place(auction.state, consumerId)
    assert.isUndefined(row("nobody"))
    assert.deepStrictEqual(row("zoe"), {
      status: "BIDDING",
      enteredAt: at(1),
      updatedAt: at(1),
      fields: { bidderHandle: auction.handle("zoe"), bidCount: 0 }
    })
    assert.deepStrictEqual(row("ada"), {
      status: "OUTBID",
      enteredAt: at(1),
      updatedAt: at(2),
      fields: {
        bidderHandle: auction.handle("ada"),
        bidCount: 1,
        lastBidAmount: "10.50",
        bidOrder: bidOrder("10.50", 4)
      }
    })
    auction.until(60)
    assert.deepStrictEqual(row("bob")?.fields, {
      bidderHandle: auction.handle("bob"),
      bidCount: 1,
      lastBidAmount: "12",
      bidOrder: bidOrder("12", 6),
      winningBidAmount: "12",
      wonAt: "2026-11-21T18:01:00.000Z",
      expiresAt: "2026-11-21T18:01:10.000Z"
    })
    assert.deepInclude(row("ada")?.fields, { lostAt: "2026-11-21T18:01:00.000Z" })
    auction.when(65, { _tag: "Complete", consumerId: "bob", by: "admin" })
    assert.deepInclude(row("bob")?.fields, { winningBidAmount: "12", completedAt: "2026-11-21T18:01:05.000Z" })
    auction.apply(denied(66, "zoe"))
    assert.deepInclude(row("zoe")?.fields, { reason: "FRAUD_DETECTED", deniedAt: "2026-11-21T18:01:06.000Z" })
  })
})

describe("the stored order of bids", () => {
  it("is that in which they win, of equal amounts the earlier first, and stays after the settlement", () => {
    const auction = given(english({ quantity: 3, admissionExpirationSeconds: 10 }))
    auction.bids(1, ["ada", "10"], ["bob", "12"], ["cleo", "10.0"], ["eve", "11"])
    const inOrder = () =>
      [...auction.state.places.keys()].toSorted((a, b) => Number(orderIn(auction.state, a) - orderIn(auction.state, b)))
    const order = inOrder()
    assert.deepStrictEqual(order, ["bob", "eve", "ada", "cleo"])
    assert.deepStrictEqual(
      auction.until(60).filter(({ _tag }) => _tag === "Won"),
      order.slice(0, 3).map((bidder) => won(60, bidder))
    )
    assert.deepStrictEqual(inOrder(), order)
  })
})

const bidOrder = (amount: string, sequence: number) => `${orderOf(ofText(amount), sequence)}`
const orderIn = (state: State, bidder: string) => BigInt(decider.place(state, bidder)!.fields["bidOrder"] as string)

describe("many bidders", () => {
  it("are counted by status", () => {
    const auction = given(english({ quantity: 2 }), [entered(1, "zoe")])
    auction.bids(1, ["ada", "10"], ["bob", "11"], ["eve", "12"])
    assert.deepInclude(decider.counts(auction.state), { BIDDING: 1, WINNING: 2, OUTBID: 1, WON: 0 })
    auction.until(60)
    assert.deepInclude(decider.counts(auction.state), { BIDDING: 0, WINNING: 0, OUTBID: 0, WON: 2, LOST: 2 })
  })

  it("cost no more per bid than few do: 50,000 of them, and 10,000 that raise, in a few seconds", () => {
    const auction = given(english({ quantity: 1_000, maxBid: "100000" }))
    const began = performance.now()
    for (let n = 0; n < 60_000; n++) {
      const command = bid(`bidder ${n % 50_000}`, `${10 + n}`)
      for (const event of accepted(auction.unnoticed(1, command))) decider.evolve(auction.state, event)
    }
    assert.isBelow(performance.now() - began, 10_000)
    assert.deepInclude(decider.counts(auction.state), { WINNING: 1_000, OUTBID: 49_000 })
    assert.deepStrictEqual(auction.until(60).slice(1, 3), [won(60, "bidder 9999"), won(60, "bidder 9998")])
  })

  it("beyond the maximum of an auction are refused", () => {
    const auction = given(english(), [entered(1, "ada")])
    Object.defineProperty(auction.state.places, "size", { value: 1_000_000 })
    for (const command of [enter("bob"), bid("bob", "10")])
      assertRefused(auction.when(2, command), "Full", { retryAfterSeconds: 60 })
    assert.deepStrictEqual(auction.when(2, enter("ada")), [])
    assert.lengthOf(accepted(auction.when(2, bid("ada", "10"))), 1)
  })
})
