import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Configuration, decider } from "../../../src/domain/auction/Auction.ts"
import { below, seededRandom } from "../../../src/domain/values/SeededRandom.ts"
import { accepted, assertRefused, isEvents } from "../mechanism/support/History.ts"
import { at, bid, confirmedBid, deny, dutch, english, given, type History } from "./history.ts"

describe("a bid above 100 times the minimum", () => {
  const limits: ReadonlyArray<readonly [Partial<Configuration>, maximumBid: string, above: string]> = [
    [{}, "1000", "1000.01"],
    [{ startPrice: "1.02" }, "102.00", "102.01"],
    [{ startPrice: "1" }, "100.99", "101"],
    [{ startPrice: "0", currencyCode: "COP" }, "100.99", "101"],
    [{ startPrice: "0.50", currencyCode: "JPY" }, "100", "101"],
    [{ startPrice: "0.010", currencyCode: "KWD" }, "100.999", "101"],
    [{ startPrice: "9.999", reservePrice: "5000" }, "1000.00", "4999"],
    [{ startPrice: "150", currencyCode: "JPY", quantity: 3 }, "15000", "15001"],
    [{ startPrice: "1.234", currencyCode: "BHD" }, "123.400", "999999999998.98"]
  ]
  for (const [settings, maximumBid, above] of limits) {
    it(`is refused, changes nothing, and names the most that is accepted: ${JSON.stringify(settings)}`, () => {
      const auction = given(english(settings))
      const before = structuredClone(auction.facts(1))
      assertRefused(auction.when(1, bid("eve", above)), "BidUnlikely", { maximumBid })
      assert.deepStrictEqual(auction.facts(1), before)
      assert.strictEqual(auction.view(1, "eve").status, "NOT_BID")
      accepted(auction.when(2, bid("eve", maximumBid)))
    })
  }

  it("is measured by the present minimum, and by the bidder's own", () => {
    const auction = given(english({ minBidIncrement: "5" }))
    auction.bids(1, ["ada", "20"])
    assertRefused(auction.when(2, bid("eve", "2500.01")), "BidUnlikely", { maximumBid: "2500" })
    const pair = given(english({ quantity: 2 }))
    pair.bids(1, ["ada", "30"])
    assertRefused(pair.when(2, bid("eve", "1000.01")), "BidUnlikely", { maximumBid: "1000" })
    assertRefused(pair.when(2, bid("ada", "3001.01")), "BidUnlikely", { maximumBid: "3001.00" })
  })

  it("is accepted if a consumer with a proved address has confirmed it, up to the highest that another can follow", () => {
    const auction = given()
    assertRefused(auction.when(1, confirmedBid("ada", "999999999999.99")), "BidTooHigh", {
      maximumBid: "999999999998.99"
    })
    accepted(auction.when(1, confirmedBid("ada", "1000.01")))
    accepted(auction.when(2, confirmedBid("ada", "999999999998.98")))
  })

  it("is no case of its own where the auction limits bids itself, or has a falling price", () => {
    accepted(given(english({ maxBid: "500000" })).when(1, bid("ada", "500000")))
    assertRefused(given(english({ maxBid: "500000" })).when(1, bid("ada", "500001")), "BidTooHigh", {
      maximumBid: "500000"
    })
    accepted(given(english({ maxBidJump: "500000" })).when(1, bid("ada", "500010")))
    accepted(given(dutch()).when(1, bid("ada", "999999999999.99")))
  })

  it("is no case of its own where 100 times the minimum cannot be written", () => {
    const auction = given(english({ startPrice: "99999999999" }))
    assertRefused(auction.when(1, bid("ada", "999999999999.99")), "BidTooHigh", { maximumBid: "999999999998.99" })
    accepted(auction.when(1, bid("ada", "999999999998.99")))
  })

  it("is confirmed for nothing else: a confirmation changes no other bid", () => {
    const auction = given(english({ maxBidJump: "5" }))
    assertRefused(auction.when(1, confirmedBid("ada", "9")), "BidTooLow", { minimumBid: "10" })
    assertRefused(auction.when(1, confirmedBid("ada", "16")), "BidTooHigh", { maximumBid: "15" })
    accepted(auction.when(1, confirmedBid("ada", "15")))
  })
})

/** What bidders see of an auction: who leads with what, and what the next one must bid. */
const standing = (auction: History, seconds: number) => {
  const { leadingBids, currentPrice, minimumBid } = auction.facts(seconds)
  return { leadingBids, currentPrice, minimumBid }
}

const people = ["ada", "bob", "eve", "joe"]
const strangers = ["guest 1", "guest 2", "guest 3"]

/** Bids of people and strangers, some equal, some raised, some late, and some far above the others. */
const play = (seed: number) => {
  const random = seededRandom(seed.toString(16).padStart(32, "7"))
  for (let index = 0; index < 10; index++) random()
  const settings = {
    quantity: 1 + below(random, 3),
    autoExtendSeconds: [0, 30][below(random, 2)]!,
    minBidIncrement: ["1", "2.5"][below(random, 2)]!,
    ...(below(random, 2) === 0 && { reservePrice: "13" })
  }
  const [auction, alone] = [given(english(settings)), given(english(settings))]
  for (let seconds = 1; seconds < 50; seconds++) {
    const isStranger = below(random, 3) === 0
    const among = isStranger ? strangers : people
    const bidder = among[below(random, among.length)]!
    const least = Number(auction.facts(seconds).minimumBid)
    const amount = isStranger ? [10, least, least * 50, least * 100][below(random, 4)]! : least + below(random, 3)
    const command = (isStranger ? bid : confirmedBid)(bidder, amount.toFixed(2))
    if (isEvents(auction.when(seconds, command)) && !isStranger) accepted(alone.when(seconds, command))
    if (isStranger && below(random, 3) === 0) auction.when(seconds, deny(bidder))
  }
  return { auction, alone }
}

describe("denying bidders", () => {
  it("gives the lead and the price back to who had them, as if the denied had never bid", () => {
    let restored = 0
    for (let seed = 0; seed < 200; seed++) {
      const { auction, alone } = play(seed)
      for (const stranger of strangers) auction.when(50, deny(stranger))
      assert.deepStrictEqual(standing(auction, 50), standing(alone, 50), `seed ${seed}`)
      for (const name of people) {
        assert.deepStrictEqual(auction.view(50, name), alone.view(50, name), `seed ${seed}, ${name}`)
      }
      restored += auction.events.filter(({ _tag }) => _tag === "Reinstated").length
      const replayed = decider.initial()
      const encode = Schema.encodeSync(decider.event)
      const decode = Schema.decodeUnknownSync(decider.event)
      for (const event of auction.events) decider.evolve(replayed, decode(JSON.parse(JSON.stringify(encode(event)))))
      assert.deepStrictEqual(replayed, auction.state, `seed ${seed}`)
      // Late bids of the denied moved the closing, and other bidders rely on it. The outcome is the same.
      auction.until(200)
      alone.until(200)
      const winners = (one: History) => people.filter((name) => one.view(200, name).status === "WON")
      assert.deepStrictEqual(winners(auction), winners(alone), `seed ${seed}`)
    }
    assert.isAbove(restored, 200)
  })

  it("tells each bidder that leads again in the same commit, once for each place that becomes free", () => {
    const auction = given(english({ quantity: 2 }))
    auction.bids(1, ["ada", "10"], ["bob", "10"], ["guest 1", "900"], ["guest 2", "950"])
    assert.deepStrictEqual(auction.status(5, "ada", "bob"), ["OUTBID", "OUTBID"])
    const events = ["guest 2", "guest 1"].flatMap((stranger) => accepted(auction.when(6, deny(stranger))))
    assert.deepStrictEqual(
      events.map((event) => [event._tag, "consumerId" in event && event.consumerId]),
      [
        ["Denied", "guest 2"],
        ["Reinstated", "ada"],
        ["Denied", "guest 1"],
        ["Reinstated", "bob"]
      ]
    )
    assert.deepInclude(auction.facts(6), { currentPrice: "10", minimumBid: "11" })
  })

  it("gives no unit below the reserve to a bidder that leads again", () => {
    const auction = given(english({ reservePrice: "50", closeAt: at(60), settleAt: at(90) }))
    auction.bids(1, ["ada", "20"], ["guest 1", "999"])
    auction.when(70, deny("guest 1"))
    assert.strictEqual(auction.view(80, "ada").status, "WINNING")
    auction.until(90)
    assert.strictEqual(auction.view(90, "ada").status, "LOST")
    assert.strictEqual(auction.facts(90).remainingQuantity, 1)
  })
})
