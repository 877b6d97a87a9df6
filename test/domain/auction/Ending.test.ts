import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/auction/Auction.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  archive,
  archived,
  at,
  bid,
  closed,
  complete,
  completed,
  denied,
  deny,
  dutch,
  end,
  ended,
  english,
  enter,
  entered,
  expired,
  given,
  tornDown,
  won
} from "./history.ts"

const lifecycle = (auction: ReturnType<typeof given>, seconds: number) => decider.lifecycle(auction.state, at(seconds))

describe("a win", () => {
  const settled = (settings = {}) => {
    const auction = given(english(settings))
    auction.bids(1, ["ada", "10"])
    auction.until(60)
    return auction
  }

  it("is completed once, however often the command comes", () => {
    const auction = settled()
    assert.deepStrictEqual(auction.when(61, complete("ada")), [completed(61, "ada")])
    assert.deepInclude(auction.view(61, "ada"), {
      status: "COMPLETED",
      winningBidAmount: "10",
      completedAt: at(61)
    })
    const grantSequence = auction.events.findIndex((event) => event._tag === "Won") + 1
    assertRefused(auction.when(62, complete("ada")), "AlreadyCompleted", { grantSequence })
  })

  it("can be denied", () => {
    const auction = settled()
    assert.deepStrictEqual(auction.when(61, deny("ada")), [denied(61, "ada")])
    assertRefused(auction.when(62, complete("ada")), "WrongStatus", { status: "DENIED" })
  })

  it("expires to the millisecond, noticed or not", () => {
    const auction = settled({ admissionExpirationSeconds: 10 })
    assert.strictEqual(auction.view(69.999, "ada").status, "WON")
    assert.deepInclude(auction.view(70, "ada"), {
      status: "DENIED",
      reason: "ADMISSION_EXPIRED",
      deniedAt: at(70)
    })
    assertRefused(auction.unnoticed(70, complete("ada")), "WrongStatus", { status: "DENIED" })
    assert.deepStrictEqual(auction.until(70), [expired(70, "ada"), tornDown(70)])
    assert.deepInclude(auction.view(70, "ada"), { status: "DENIED", reason: "ADMISSION_EXPIRED", deniedAt: at(70) })
  })

  it("that does not expire delays the teardown without limit", () => {
    const auction = settled()
    assert.notProperty(auction.view(60, "ada"), "expiresAt")
    assert.deepStrictEqual(auction.until(1_000_000), [])
    assert.strictEqual(lifecycle(auction, 1_000_000), "settling")
    auction.when(1_000_001, complete("ada"))
    assert.deepStrictEqual(auction.until(1_000_001), [tornDown(1_000_001)])
    assert.strictEqual(lifecycle(auction, 1_000_001), "closed")
    assert.isUndefined(decider.wakeAt(auction.state))
  })

  it("cannot be completed by a bidder without one", () => {
    const auction = given(english(), [entered(1, "bob")])
    assertRefused(auction.when(2, complete("zoe")), "WrongStatus", { status: "NOT_BID" })
    assertRefused(auction.when(2, complete("bob")), "WrongStatus", { status: "BIDDING" })
  })
})

describe("ending an auction before its time", () => {
  it("calls it off: no bidder wins, and bidders that waited for the outcome are denied", () => {
    const auction = given(english(), [entered(1, "zoe")])
    auction.bids(1, ["ada", "10"], ["bob", "11"])
    assert.deepStrictEqual(auction.when(3, end), [ended(3)])
    for (const bidder of ["ada", "bob", "zoe"]) {
      assert.deepInclude(auction.view(3, bidder), { status: "DENIED", reason: "AUCTION_CLOSED", deniedAt: at(3) })
      assertRefused(auction.unnoticed(3, complete(bidder)), "WrongStatus", { status: "DENIED" })
      assert.deepStrictEqual(auction.unnoticed(3, deny(bidder)), [])
    }
    assertRefused(auction.unnoticed(3, bid("eve", "99")), "Closed")
    assert.deepStrictEqual(auction.until(99), [
      denied(3, "bob", "AUCTION_CLOSED"),
      denied(3, "ada", "AUCTION_CLOSED"),
      denied(3, "zoe", "AUCTION_CLOSED"),
      tornDown(3)
    ])
    assert.deepInclude(decider.statusFields(auction.state), {
      statusOverride: "ended",
      statusOverrideAt: at(3),
      statusOverrideBy: "admin",
      teardownStatus: "completed"
    })
  })

  it("keeps the units that a dutch auction has sold", () => {
    const auction = given(dutch())
    auction.bids(1, ["ada", "100"])
    auction.when(2, enter("bob"))
    auction.when(3, end)
    assert.deepStrictEqual(auction.until(3), [denied(3, "bob", "AUCTION_CLOSED")])
    assert.strictEqual(auction.view(99, "ada").status, "WON")
    auction.when(99, complete("ada"))
    assert.deepStrictEqual(auction.until(99), [tornDown(99)])
  })

  it("twice has the same effect as once", () => {
    assert.deepStrictEqual(given(english(), [ended(1)]).when(2, end), [])
  })

  it("after its closing changes nothing: the leaders win", () => {
    const auction = given(english({ closeAt: at(60), settleAt: at(90) }))
    auction.bids(1, ["ada", "10"])
    assert.deepStrictEqual(auction.unnoticed(60, end), [])
    assert.deepStrictEqual(auction.when(61, end), [])
    assert.deepStrictEqual(auction.until(90), [won(90, "ada")])
  })
})

describe("archiving an auction", () => {
  it("ends an open auction and archives it", () => {
    const auction = given()
    assert.deepStrictEqual(auction.when(1, archive), [ended(1), archived(1)])
    assert.deepInclude(decider.statusFields(auction.state), { archived: true, statusOverride: "ended" })
    assert.deepStrictEqual(auction.when(2, archive), [])
  })

  it("archives a closed auction without an override", () => {
    const auction = given()
    assert.deepStrictEqual(auction.when(61, archive), [archived(61)])
    assert.deepInclude(decider.statusFields(auction.state), { archived: true, statusOverride: null })
  })
})

describe("the lifecycle of an auction", () => {
  it("is scheduled until openAt, open until closeAt, settling until nothing is outstanding", () => {
    const auction = given(english({ openAt: at(10), closeAt: at(60), settleAt: at(90) }))
    assert.deepStrictEqual(
      [9.999, 10, 59.999, 60].map((seconds) => lifecycle(auction, seconds)),
      ["scheduled", "open", "open", "settling"]
    )
    assert.deepStrictEqual(auction.until(89.999), [closed(60)])
    assert.strictEqual(decider.statusFields(auction.state).teardownStatus, "pending")
    assert.deepStrictEqual(auction.until(90), [tornDown(90)])
    assert.strictEqual(lifecycle(auction, 90), "closed")
    assert.strictEqual(decider.statusFields(auction.state).teardownStatus, "completed")
  })
})
