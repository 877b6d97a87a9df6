import { describe, it } from "@effect/vitest"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import { bid, confirmedBid, dutch, english, enter, given } from "./history.ts"

describe("a bid", () => {
  it("is in whole minor units of the currency", () => {
    const auction = given()
    assertRefused(auction.when(1, bid("ada", "10.005")), "AmountNotWhole", { amount: "10.005", fractionDigits: 2 })
    accepted(auction.when(1, bid("ada", "10.500")))
    const yen = given(english({ currencyCode: "JPY" }))
    assertRefused(yen.when(1, bid("ada", "10.5")), "AmountNotWhole", { amount: "10.5", fractionDigits: 0 })
    accepted(yen.when(1, bid("ada", "11.0")))
    assertRefused(given(dutch()).when(1, bid("ada", "100.001")), "AmountNotWhole", {
      amount: "100.001",
      fractionDigits: 2
    })
  })

  it("has a minimum in whole minor units, whatever the settings are", () => {
    const auction = given(english({ startPrice: "9.999", minBidIncrement: "0.001" }))
    assertRefused(auction.when(1, bid("ada", "9.99")), "BidTooLow", { minimumBid: "10.00" })
    auction.bids(1, ["ada", "10"])
    assertRefused(auction.when(2, bid("bob", "10")), "BidTooLow", { minimumBid: "10.01" })
  })

  it("is at most maxBid, at which no other bid follows", () => {
    const auction = given(english({ maxBid: "20" }))
    assertRefused(auction.when(1, bid("ada", "20.01")), "BidTooHigh", { maximumBid: "20" })
    auction.bids(1, ["ada", "20"])
    assertRefused(auction.when(2, bid("bob", "20")), "BidTooLow", { minimumBid: "21" })
    assertRefused(auction.when(2, bid("bob", "21")), "BidTooHigh", { maximumBid: "20" })
  })

  it("is at most maxBidJump above the minimum", () => {
    const auction = given(english({ maxBidJump: "5" }))
    assertRefused(auction.when(1, bid("ada", "15.01")), "BidTooHigh", { maximumBid: "15" })
    auction.bids(1, ["ada", "15"])
    assertRefused(auction.when(2, bid("bob", "21.01")), "BidTooHigh", { maximumBid: "21" })
    auction.bids(2, ["bob", "21"])
  })

  it("is refused if the next one could not be written", () => {
    const auction = given()
    for (const amount of ["999999999999.99", "999999999999"]) {
      assertRefused(auction.when(1, confirmedBid("eve", amount)), "BidTooHigh", { maximumBid: "999999999998.99" })
    }
    const open = given(english({ maxBidJump: "1000" }))
    assertRefused(open.when(1, bid("eve", "999999999998")), "BidTooHigh", { maximumBid: "1010" })
    accepted(open.when(1, bid("eve", "1010")))
    accepted(open.when(2, bid("ada", "1011")))
  })
})

describe("a guest", () => {
  it("is refused where supportsGuest is false, and keeps a place it has", () => {
    const guest = { isGuest: true }
    const auction = given(english({ supportsGuest: false }))
    assertRefused(auction.when(1, { ...enter("ada"), ...guest }), "GuestsRefused")
    assertRefused(auction.when(1, { ...bid("ada", "10"), ...guest }), "GuestsRefused")
    accepted(auction.when(1, enter("bob")))
    accepted(auction.when(2, { ...bid("bob", "10"), ...guest }))
    accepted(given().when(1, { ...bid("ada", "10"), ...guest }))
  })
})
