import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { decodeJwt } from "jose"
import { type Answer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { aDutchAuction, anAuction, soon } from "./auctionFixture.ts"
import { anAudience, anExperience, aSequence } from "../experience/experienceFixture.ts"

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Repeats the request until its answer has this status. */
const until = <E, R>(status: string, question: Effect.Effect<Answer, E, R>) =>
  question.pipe(
    Effect.repeat({ until: ({ body }) => body.status === status, schedule: Schedule.spaced("20 millis"), times: 300 })
  )

const amounts = ({ body }: Answer): ReadonlyArray<string> => body.data.map((bid: { amount: string }) => bid.amount)

describe("An auction on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("english: goes from the first bid to the shop without a request in between", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const auction = yield* anAuction({
          settleAt: soon(3),
          autoExtendSeconds: 1,
          reservePrice: "11",
          admissionExpirationSeconds: 600,
          quantity: 2
        })
        const [ada, bob, eve, zoe] = [yield* guest(), yield* guest(), yield* guest(), yield* guest()]
        assert.deepStrictEqual((yield* auction.status(ada)).body, { status: "NOT_BID", bidCount: 0 })

        const entered = yield* auction.enter(zoe)
        assert.deepStrictEqual([entered.status, entered.body.status, entered.body.bidCount], [200, "BIDDING", 0])
        assert.deepStrictEqual((yield* auction.enter(zoe)).body, entered.body)

        const first = yield* auction.bid(ada, "10.50")
        assert.strictEqual(first.status, 200)
        const { enteredAt, bidderHandle } = first.body
        assert.match(enteredAt, isoUtc)
        assert.deepStrictEqual(first.body, {
          status: "WINNING",
          enteredAt,
          bidderHandle,
          bidCount: 1,
          lastBidAmount: "10.50"
        })
        yield* auction.bid(bob, "12")
        const low = yield* auction.bid(eve, "11.49")
        assert.deepStrictEqual(
          [low.status, low.body],
          [409, { error: "Bid is too low", code: "BID_TOO_LOW", minimumBid: "11.50" }]
        )
        assert.strictEqual((yield* auction.bid(eve, "13")).body.status, "WINNING")
        assert.strictEqual((yield* auction.status(ada)).body.status, "OUTBID")
        assert.deepStrictEqual(amounts(yield* auction.bids()), ["13", "12"])
        assert.deepStrictEqual(amounts(yield* auction.history()), ["13", "12", "10.50"])

        const won = yield* until("WON", auction.status(eve))
        const { admissionGrant, wonAt, expiresAt } = won.body
        assert.deepInclude(won.body, { status: "WON", winningBidAmount: "13", lastBidAmount: "13", bidCount: 1 })
        assert.notProperty(won.body, "grantSequence")
        assert.strictEqual(wonAt, (yield* auction.get).body.settleAt)
        assert.strictEqual(Date.parse(expiresAt) - Date.parse(wonAt), 600_000)
        assert.deepInclude(decodeJwt<object>(admissionGrant), {
          consumerId: eve.consumerId,
          distributionId: auction.id,
          distributionType: "auction"
        })
        for (const loser of [ada, zoe]) {
          const { body } = yield* until("LOST", auction.status(loser))
          assert.deepInclude(body, { status: "LOST", lostAt: wonAt })
        }
        assert.deepStrictEqual((yield* auction.currentPrice).body, {
          currentPrice: "12",
          remainingQuantity: 0,
          auctionEnded: true
        })

        const { consumerId } = eve
        assert.strictEqual((yield* auction.validate({ consumerId, token: admissionGrant })).body, true)
        const completed = yield* auction.complete({ consumerId })
        assert.deepInclude(completed.body, { status: "COMPLETED", winningBidAmount: "13" })
        const again = (yield* auction.complete({ consumerId })).body
        assert.deepStrictEqual(again, { ...completed.body, alreadyCompleted: true })
        assert.strictEqual(
          (yield* auction.validate({ consumerId, token: admissionGrant })).body.code,
          "GRANT_COMPLETED"
        )
        const denied = yield* auction.deny({ consumerId: bob.consumerId, reason: "FRAUD_DETECTED" })
        assert.deepInclude(denied.body, { status: "DENIED", reason: "FRAUD_DETECTED" })
        const over = yield* auction.get
        assert.deepInclude(over.body, { lifecycle: "closed", teardownStatus: "completed" })
      })
    )

    it.effect("dutch: sells a unit at the price of the moment for each bid, until none is left", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const auction = yield* aDutchAuction({ openAt: soon(-3601) })
        const price = { currentPrice: "85", remainingQuantity: 2, auctionEnded: false }
        assert.deepStrictEqual((yield* auction.currentPrice).body, price)
        assert.deepStrictEqual((yield* auction.highestBid).body, { highestBid: null })
        const [ada, bob, eve] = [yield* guest(), yield* guest(), yield* guest()]

        const dear = yield* auction.bid(ada, "84.99")
        assert.deepStrictEqual(
          [dear.status, dear.body],
          [409, { error: "Bid is too low", code: "BID_TOO_LOW", minimumBid: "85" }]
        )
        const won = yield* auction.bid(ada)
        assert.deepInclude(won.body, { status: "WON", winningBidAmount: "85", bidCount: 1 })
        assert.notProperty(won.body, "expiresAt")
        const { consumerId } = ada
        const shown = { consumerId, token: won.body.admissionGrant }
        assert.strictEqual((yield* auction.validate(shown)).body, true)
        assert.deepStrictEqual((yield* auction.bid(ada)).body, won.body)
        assert.strictEqual((yield* auction.currentPrice).body.remainingQuantity, 1)

        yield* auction.enter(eve)
        assert.strictEqual((yield* auction.bid(bob, "200")).body.winningBidAmount, "85")
        const late = yield* auction.bid(eve)
        assert.deepStrictEqual([late.status, late.body], [409, { error: "Auction is sold out", code: "SOLD_OUT" }])
        assert.notProperty(late.headers, "retry-after")
        assert.strictEqual((yield* until("LOST", auction.status(eve))).body.status, "LOST")
        assert.deepStrictEqual((yield* auction.currentPrice).body, {
          currentPrice: "85",
          remainingQuantity: 0,
          auctionEnded: true
        })
        assert.strictEqual((yield* auction.get).body.lifecycle, "settling")
      })
    )

    it.effect("shows its terms without a session, and shows its reserve to no consumer", () =>
      Effect.gen(function* () {
        const settleAt = soon(3600)
        const auction = yield* anAuction({
          settleAt,
          closeAt: soon(1800),
          startPrice: "10.00",
          minBidIncrement: "1.0",
          reservePrice: "4711.11",
          autoExtendSeconds: 60
        })
        const { status, body, text } = yield* auction.get
        assert.strictEqual(status, 200)
        assert.deepInclude(body, {
          id: auction.id,
          auctionType: "english",
          currencyCode: "EUR",
          quantity: 1,
          settleAt,
          openAt: null,
          autoExtendSeconds: 60,
          startPrice: "10.00",
          minBidIncrement: "1.0",
          floorPrice: null,
          priceDropAmount: null,
          priceDropIntervalSeconds: null,
          admissionExpirationSeconds: null,
          lifecycle: "open",
          statusOverride: null,
          teardownStatus: null
        })
        assert.notProperty(body, "reservePrice")
        assert.strictEqual((yield* auction.currentPrice).body.currentPrice, "10.00")
        const answers = [text, (yield* auction.currentPrice).text, (yield* auction.bids()).text]
        for (const answer of answers) assert.notInclude(answer, "4711")
        assert.strictEqual((yield* auction.record).body.reservePrice, "4711.11")
      })
    )

    it.effect("shows bidders to each other by their handles alone", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [ada, bob] = [yield* guest(), yield* guest()]
        const bidIn = Effect.fnUntraced(function* () {
          const auction = yield* anAuction()
          const own = yield* auction.bid(ada, "10")
          yield* auction.bid(bob, "11")
          yield* auction.bid(ada, "12")
          const answers = [yield* auction.bids(), yield* auction.history(), yield* auction.highestBid]
          for (const { text } of answers) {
            for (const { consumerId } of [ada, bob]) assert.notInclude(text, consumerId)
          }
          const handles = answers[1]!.body.data.map((bid: { bidderHandle: string }) => bid.bidderHandle)
          assert.deepStrictEqual(handles, [own.body.bidderHandle, handles[1], own.body.bidderHandle])
          assert.notStrictEqual(handles[1], handles[0])
          const highest = answers[2]!.body.highestBid
          assert.deepStrictEqual(Object.keys(highest).toSorted(), ["amount", "bidderHandle", "placedAt"])
          assert.match(highest.placedAt, isoUtc)
          return handles[0] as string
        })
        assert.notStrictEqual(yield* bidIn(), yield* bidIn())
      })
    )

    it.effect("returns the requested number of bids, twenty by default", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const auction = yield* anAuction({ quantity: 30 })
        for (let n = 0; n < 25; n++) yield* auction.bid(yield* guest(), `${10 + n}`)
        for (const list of [auction.bids, auction.history]) {
          assert.lengthOf(amounts(yield* list()), 20)
          assert.deepStrictEqual(amounts(yield* list("?limit=2")), ["34", "33"])
          assert.lengthOf(amounts(yield* list("?limit=100")), 25)
          for (const [limit, type] of Object.entries({
            "0": "min_value",
            "101": "max_value",
            "1.5": "integer",
            x: "number"
          })) {
            const { status, body } = yield* list(`?limit=${limit}`)
            assert.deepStrictEqual([status, body.issues[0].type, body.issues[0].path[0].key], [400, type, "limit"])
          }
        }
      })
    )

    it.effect("refuses an invalid amount, and stores nothing of it", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const bad = ["1.123456789", "1e3", "-5", "", "1234567890123", "12,5", " 12", "NaN", 12, 12.5, true, {}, ["12"]]
        for (const auction of [yield* anAuction(), yield* aDutchAuction()]) {
          const someone = yield* guest()
          for (const amount of bad) {
            const { status, body } = yield* auction.bid(someone, amount)
            const [issue, ...more] = body.issues
            assert.deepStrictEqual([status, body.error, more], [400, "validation_error", []], JSON.stringify(amount))
            assert.deepStrictEqual(
              [issue.type, issue.path.map(({ key }: { key: string }) => key)],
              ["amount", ["amount"]]
            )
            assert.strictEqual(issue.kind, typeof amount === "string" ? "validation" : "schema")
          }
          assert.deepStrictEqual((yield* auction.status(someone)).body, { status: "NOT_BID", bidCount: 0 })
          assert.lengthOf((yield* auction.recorded).body.data, 1)
        }
      })
    )

    it.effect("requires an amount in an english auction: absent, null and empty bodies are refused", () =>
      Effect.gen(function* () {
        const { consumer, brand, guest } = yield* Usher
        const auction = yield* anAuction()
        const someone = yield* guest()
        const path = `/api/auctions/${auction.id}/bid`
        const headers = asServer(brand.secretKey, someone.consumerId)
        for (const body of [undefined, {}, { amount: null }, "null"]) {
          const answer = yield* consumer({ method: "POST", path, headers, body })
          assert.deepStrictEqual(
            [answer.status, answer.body.issues[0]],
            [
              400,
              {
                kind: "schema",
                type: "amount",
                expected: "amount",
                received: "undefined",
                message: "Invalid type: Expected amount but received undefined",
                path: [{ type: "object", origin: "value", key: "amount", input: {} }]
              }
            ]
          )
        }
      })
    )

    it.effect("cannot be entered or bid in before it opens or after it closes", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const someone = yield* guest()
        const opensAt = soon(1800)
        const later = yield* anAuction({ openAt: opensAt })
        for (const early of [yield* later.enter(someone), yield* later.bid(someone, "10")]) {
          assert.deepStrictEqual(
            [early.status, early.body],
            [423, { error: "Auction is not open yet", code: "NOT_OPEN", opensAt }]
          )
          assert.isAbove(Number(early.headers["retry-after"]), 1790)
        }
        const ended = yield* anAuction()
        yield* ended.bid(someone, "10")
        yield* ended.end
        assert.deepInclude((yield* ended.status(someone)).body, { status: "DENIED", reason: "AUCTION_CLOSED" })
        const stranger = yield* guest()
        for (const late of [yield* ended.enter(stranger), yield* ended.bid(stranger, "10")]) {
          assert.deepStrictEqual([late.status, late.body], [409, { error: "Auction is closed", code: "CLOSED" }])
        }
      })
    )

    it.effect("is prolonged by a late bid, on both APIs", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const closeAt = soon(1800)
        const auction = yield* anAuction({ closeAt, settleAt: closeAt, autoExtendSeconds: 3600 })
        assert.strictEqual((yield* auction.get).body.closeAt, closeAt)
        yield* auction.bid(yield* guest(), "10")
        const [{ placedAt }] = (yield* auction.history()).body.data
        const moved = new Date(Date.parse(placedAt) + 3_600_000).toISOString()
        assert.deepInclude((yield* auction.get).body, { closeAt: moved, settleAt: moved })
        assert.deepInclude((yield* auction.record).body, { closeAt: moved, settleAt: moved })
        const renamed = yield* auction.change({ name: "Another" })
        assert.deepInclude(renamed.body, { name: "Another", closeAt: moved, settleAt: moved })
      })
    )

    it.effect("counts bids in their own rate limit", () =>
      Effect.gen(function* () {
        const { consumer, stranger, guest } = yield* Usher
        const auction = yield* anAuction()
        const outsider: Guest = yield* guest(stranger.publishableKey)
        const headers = Fixture.asConsumer(stranger.publishableKey, outsider.accessToken)
        const post = (operation: string) =>
          consumer({ method: "POST", path: `/api/auctions/${auction.id}${operation}`, headers, body: { amount: "10" } })
        const bid = yield* post("/bid")
        assert.deepStrictEqual([bid.status, bid.headers["x-ratelimit-limit"]], [404, "50"])
        assert.strictEqual((yield* post("/enter")).headers["x-ratelimit-limit"], "5000")
      })
    )

    it.effect("accepts bids of a server for its consumer", () =>
      Effect.gen(function* () {
        const { consumer, guest, brand } = yield* Usher
        const auction = yield* anAuction()
        const someone = yield* guest()
        const bid = yield* consumer({
          method: "POST",
          path: `/api/auctions/${auction.id}/bid`,
          headers: asServer(brand.secretKey, someone.consumerId),
          body: { amount: "10" }
        })
        assert.deepStrictEqual([bid.status, bid.body.status], [200, "WINNING"])
        assert.deepStrictEqual((yield* auction.status(someone)).body, bid.body)
      })
    )

    it.effect("refuses bids of a consumer that its sequence does not admit", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [member, other] = [yield* guest(), yield* guest()]
        const sequenceId = yield* aSequence(yield* anExperience(), { audienceId: yield* anAudience([member]) })
        const auction = yield* anAuction({ sequenceId })
        const refused = yield* auction.bid(other, "10")
        assert.deepStrictEqual([refused.status, refused.body], [403, { error: "Auction is not for this consumer" }])
        assert.deepStrictEqual((yield* auction.status(other)).body, { status: "NOT_BID", bidCount: 0 })
        assert.strictEqual((yield* auction.bid(member, "10")).body.status, "WINNING")
      })
    )

    it.effect("keeps every accepted bid permanently, with the exact amount", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const auction = yield* anAuction({ startPrice: "0", minBidIncrement: "0.01", maxBid: "999999999999.99" })
        const [ada, bob] = [yield* guest(), yield* guest()]
        const bids: ReadonlyArray<readonly [Guest, string]> = [
          [ada, "0.1"],
          [bob, "0.30000000"],
          [ada, "900719925474.09000000"],
          [bob, "999999999999.98"]
        ]
        for (const [bidder, amount] of bids)
          assert.strictEqual((yield* auction.bid(bidder, amount)).status, 200, amount)
        const { data } = (yield* auction.recorded).body
        assert.deepStrictEqual(
          data
            .filter(({ type }: { type: string }) => type === "BidPlaced")
            .map((entry: { data: { amount: string }; consumerId: string }) => [entry.consumerId, entry.data.amount]),
          bids.map(([{ consumerId }, amount]) => [consumerId, amount])
        )
      })
    )
  })
})
