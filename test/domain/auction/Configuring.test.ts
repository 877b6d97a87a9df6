import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/auction/Auction.ts"
import {
  type Configuration,
  configurationProblems,
  fractionProblems
} from "../../../src/domain/auction/Configuration.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { at, configure, dutch, ended, english, extended, given, salt } from "./history.ts"

describe("configuring an auction", () => {
  it("creates it at first, with the salt of its handles", () => {
    const auction = given(english({ quantity: 3 }))
    assert.deepStrictEqual(auction.events, [
      { _tag: "Configured", at: at(0), configuration: english({ quantity: 3 }), by: "admin", handleSalt: salt }
    ])
  })

  it("may change every setting until it opens, and keeps the salt", () => {
    const auction = given(english({ openAt: at(10) }))
    const next = dutch({ openAt: at(20), settleAt: at(90) })
    assert.deepStrictEqual(auction.when(9.999, configure(next)), [
      { _tag: "Configured", at: at(9.999), configuration: next, by: "admin" }
    ])
    assert.strictEqual(auction.state.handleSalt, salt)
  })

  it("with the same settings changes nothing", () => {
    assert.deepStrictEqual(given(english({ openAt: at(10) })).when(1, configure(english({ openAt: at(10) }))), [])
    assert.deepStrictEqual(given().when(1, configure(english())), [])
  })

  it("may change settings that bidders do not rely on at any time", () => {
    const auction = given()
    const change = { name: "Another", timeZone: "Europe/Berlin", admissionExpirationSeconds: 60 }
    auction.when(1, configure(english(change)))
    assert.deepInclude(decider.configurationOf(auction.state), change)
  })

  it("may change no term after the opening, and is refused with the term's name", () => {
    const terms: Partial<Configuration> = {
      openAt: at(1),
      closeAt: at(61),
      settleAt: at(99),
      currencyCode: "USD",
      auctionType: "dutch",
      quantity: 2,
      autoExtendSeconds: 1,
      startPrice: "0.00000001",
      reservePrice: "0.00000001",
      minBidIncrement: "0.00000002",
      floorPrice: "0.00000001",
      priceDropAmount: "0.00000001",
      priceDropIntervalSeconds: 1
    }
    for (const [setting, value] of Object.entries(terms)) {
      const changed = { ...english(), [setting]: value }
      assertRefused(given().when(1, configure(changed)), "ConfigurationFixed", { setting })
    }
  })

  it("may change the notation of a price, which stays the same price", () => {
    const auction = given(english({ startPrice: "10", reservePrice: "20.5" }))
    auction.when(1, configure(english({ startPrice: "10.00", reservePrice: "20.50" })))
    assert.deepInclude(decider.configurationOf(auction.state), { startPrice: "10.00", reservePrice: "20.50" })
    const { reservePrice: _, ...without } = english({ startPrice: "10", reservePrice: "20.5" })
    assertRefused(auction.when(2, configure(without)), "ConfigurationFixed", { setting: "reservePrice" })
  })

  it("keeps a closing that bids have moved meanwhile", () => {
    const soft = (settings: Partial<Configuration>) => english({ autoExtendSeconds: 20, ...settings })
    const moved = () => given(soft({}), [extended(50, 70), extended(60, 80)])
    for (const closeAt of [at(60), at(70), at(80)]) {
      const auction = moved()
      auction.when(61, configure(soft({ closeAt, settleAt: at(75), name: "Another" })))
      const current = decider.configurationOf(auction.state)
      assert.deepInclude(current, { name: "Another", closeAt: at(80), settleAt: at(80) })
    }
    const later = soft({ closeAt: at(81), settleAt: at(81) })
    assertRefused(moved().when(61, configure(later)), "ConfigurationFixed", { setting: "closeAt" })
    const earlier = soft({ closeAt: at(59), settleAt: at(80) })
    assertRefused(moved().when(61, configure(earlier)), "ConfigurationFixed", { setting: "closeAt" })
  })

  it("is refused once it has closed", () => {
    assertRefused(given(english(), [ended(1)]).when(2, configure(english({ name: "Another" }))), "Closed")
    assertRefused(given().unnoticed(60, configure(english({ name: "Another" }))), "Closed")
  })
})

describe("contradictory settings of an auction", () => {
  const fields = (configuration: Configuration) => configurationProblems(configuration).map(({ field }) => field)

  it("include a closing that is not after the opening, and a settlement before the closing", () => {
    assert.deepStrictEqual(fields(english({ openAt: at(60) })), ["closeAt"])
    assert.deepStrictEqual(fields(english({ openAt: at(59) })), [])
    assert.deepStrictEqual(fields(english({ closeAt: at(60), settleAt: at(59) })), ["settleAt"])
    assert.deepStrictEqual(fields(english({ closeAt: at(60), settleAt: at(60) })), [])
  })

  it("include a dutch auction without a floor, a drop or an interval", () => {
    const { floorPrice: _, priceDropAmount: __, priceDropIntervalSeconds: ___, ...bare } = dutch()
    assert.deepStrictEqual(fields(bare), ["floorPrice", "priceDropAmount", "priceDropIntervalSeconds"])
    assert.deepStrictEqual(fields(dutch({ floorPrice: "0" })), [])
  })

  it("include a floor above the start", () => {
    assert.deepStrictEqual(fields(dutch({ floorPrice: "100.00000001" })), ["floorPrice"])
    assert.deepStrictEqual(fields(dutch({ floorPrice: "100" })), [])
  })

  it("include a start price or a reserve above the highest bid, and limits of bids in a dutch auction", () => {
    assert.deepStrictEqual(fields(english({ maxBid: "9" })), ["maxBid"])
    assert.deepStrictEqual(fields(english({ maxBid: "10" })), [])
    assert.deepStrictEqual(fields(english({ startPrice: "999999999999.99999999" })), ["startPrice"])
    assert.deepStrictEqual(fields(english({ maxBid: "20", reservePrice: "21" })), ["reservePrice"])
    assert.deepStrictEqual(fields(dutch({ maxBid: "200", maxBidJump: "1" })), ["maxBid", "maxBidJump"])
  })

  it("include settings of the other type", () => {
    const ofEnglish = { reservePrice: "0.00000001", minBidIncrement: "0.00000001", autoExtendSeconds: 1 }
    assert.deepStrictEqual(fields(dutch(ofEnglish)), ["reservePrice", "minBidIncrement", "autoExtendSeconds"])
    const ofDutch = { floorPrice: "0.00000001", priceDropAmount: "0.00000001", priceDropIntervalSeconds: 1 }
    assert.deepStrictEqual(fields(english(ofDutch)), ["floorPrice", "priceDropAmount", "priceDropIntervalSeconds"])
  })
})

describe("prices that are not in whole minor units", () => {
  const fields = (configuration: Configuration, before: Partial<Configuration> = {}) =>
    fractionProblems(configuration, before).map(({ field }) => field)

  it("are named, by the currency", () => {
    assert.deepStrictEqual(fields(english({ startPrice: "1.5", reservePrice: "20.50", minBidIncrement: "0.01" })), [])
    assert.deepStrictEqual(
      fields(english({ startPrice: "1.005", reservePrice: "2.001", minBidIncrement: "0.001", maxBid: "9.999" })),
      ["startPrice", "reservePrice", "minBidIncrement", "maxBid"]
    )
    const drop = (currencyCode: string, priceDropAmount: string) => fields(dutch({ currencyCode, priceDropAmount }))
    assert.deepStrictEqual(drop("JPY", "0.5"), ["priceDropAmount"])
    assert.deepStrictEqual(drop("JPY", "1.000"), [])
    assert.deepStrictEqual([drop("KWD", "0.005"), drop("KWD", "0.0005")], [[], ["priceDropAmount"]])
    assert.deepStrictEqual([drop("COP", "0.05"), drop("ISK", "0.5")], [[], ["priceDropAmount"]])
    assert.deepStrictEqual(fields(dutch({ floorPrice: "0.001", startPrice: "100.001" })), ["startPrice", "floorPrice"])
  })

  it("are not named if the change leaves them and the currency as they were", () => {
    const before = dutch({ currencyCode: "JPY", priceDropAmount: "0.5" })
    assert.deepStrictEqual(fields({ ...before, name: "Another" }, before), [])
    assert.deepStrictEqual(fields({ ...before, floorPrice: "1.5" }, before), ["floorPrice"])
    assert.deepStrictEqual(fields({ ...before, currencyCode: "KRW" }, before), ["priceDropAmount"])
  })
})
