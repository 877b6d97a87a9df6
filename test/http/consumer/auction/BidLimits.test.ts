/** The limits of bids, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { Usher } from "../../support/usherFixture.ts"
import { anAuction } from "./auctionFixture.ts"

describe("An auction", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("refuses bids that are too high, or not in whole minor units of the currency", () =>
      Effect.gen(function* () {
        const someone = yield* (yield* Usher).guest()
        const auction = yield* anAuction({ maxBid: "100", maxBidJump: "20" })
        assert.deepInclude((yield* auction.get).body, { maxBid: "100", maxBidJump: "20" })
        const fraction = yield* auction.bid(someone, "10.505")
        assert.strictEqual(fraction.status, 400)
        const [issue] = fraction.body.issues
        assert.deepInclude(issue, {
          kind: "validation",
          type: "amount",
          expected: "an amount with at most 2 digits after the point",
          received: '"10.505"'
        })
        const jump = yield* auction.bid(someone, "30.01")
        assert.deepStrictEqual(
          [jump.status, jump.body],
          [409, { error: "Bid is too high", code: "BID_TOO_HIGH", maximumBid: "30" }]
        )
        assert.strictEqual((yield* auction.bid(someone, "30.00")).body.status, "WINNING")
        const unbounded = yield* anAuction()
        const last = yield* unbounded.bid(someone, "999999999999.99")
        assert.deepStrictEqual(
          [last.status, last.body.code, last.body.maximumBid],
          [409, "BID_TOO_HIGH", "999999999998.99"]
        )
      })
    )
  })
})
