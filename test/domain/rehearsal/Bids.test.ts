/** What the people of a rehearsal bid. */
import { assert, describe, it } from "@effect/vitest"
import { Bids } from "../../../src/domain/rehearsal/Bids.ts"

const english = { auctionType: "english", quantity: 2, startPrice: "100" } as const
const bid = (bids: Bids, person: number, worth: number) => {
  const next = bids.next(person, worth, 0)
  if (next !== undefined) bids.placed(person, next)
  return next?.amount
}

describe("In an English auction", () => {
  it("people bid the start price while a unit is free, and then above the lowest leader, up to their limit", () => {
    const bids = new Bids(english, 0, 0.1)
    assert.strictEqual(bid(bids, 1, 2), "100")
    assert.strictEqual(bid(bids, 2, 2), "100")
    assert.strictEqual(bid(bids, 3, 2), "110")
    assert.strictEqual(bid(bids, 4, 1.05), undefined)
    assert.strictEqual(bid(bids, 5, 1.11), "110")
    assert.strictEqual(bid(bids, 6, 1.2), undefined)
    assert.strictEqual(bid(bids, 6, 1.21), "121")
  })

  it("nobody outbids itself", () => {
    const bids = new Bids(english, 0, 0.1)
    assert.strictEqual(bid(bids, 1, 9), "100")
    assert.strictEqual(bid(bids, 1, 9), undefined)
  })

  it("bids keep to the increment and the highest bid of the auction", () => {
    const bids = new Bids({ ...english, quantity: 1, minBidIncrement: "25", maxBid: "130" }, 0, 0.1)
    assert.strictEqual(bid(bids, 1, 9), "100")
    assert.strictEqual(bid(bids, 2, 9), "125")
    assert.strictEqual(bid(bids, 3, 9), undefined)
  })

  it("a price below one is rounded up to it", () => {
    const bids = new Bids({ ...english, quantity: 1, startPrice: "0" }, 0, 0)
    assert.deepStrictEqual([bid(bids, 1, 2), bid(bids, 2, 2), bid(bids, 3, 2)], ["1", "2", undefined])
  })
})

describe("In a Dutch auction", () => {
  it("people take the price once it has fallen to their limit", () => {
    const terms = {
      auctionType: "dutch",
      startPrice: "100",
      floorPrice: "60",
      priceDropAmount: "10",
      priceDropIntervalSeconds: 60
    } as const
    const bids = new Bids(terms, 1_000, 0.1)
    const takes = (worth: number, second: number) => bids.next(1, worth, second * 1_000) !== undefined
    assert.deepStrictEqual([takes(1.25, 0), takes(1.25, 120), takes(1.25, 121)], [false, false, true])
    assert.deepStrictEqual([takes(1.6, 100_000), takes(1.7, 100_000)], [true, false])
  })
})
