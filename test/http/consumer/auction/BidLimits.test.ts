/** The limits of bids, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { type Answer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import { anAuction } from "./auctionFixture.ts"

const session = ({ status, body, text }: Answer): Guest => {
  if (status !== 200) throw new Error(text)
  return { accessToken: body.accessToken, consumerId: body.session.consumerId } as Guest
}

const auth = Effect.fnUntraced(function* (path: string, body: object, headers?: { readonly [name: string]: string }) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    method: "POST",
    path: `/api/auth/${path}`,
    headers: headers ?? { "x-publishable-key": brand.publishableKey },
    body
  })
})

/** A consumer that a code has proved to have the address. */
const proved = Effect.fnUntraced(function* (channel: "email" | "phone", address: string) {
  const { admin, brand } = yield* Usher
  yield* auth("otp/request", { [channel]: address })
  const read = admin({ path: `/api/outbox?to=${encodeURIComponent(address)}`, headers: asServer(brand.secretKey) })
  const { body } = yield* Effect.repeat(read, {
    until: ({ body }) => body.data.length > 0,
    schedule: Schedule.spaced("5 millis")
  })
  const code = /\b\d{6}\b/.exec(body.data[0].text)![0]
  return session(yield* auth("otp/verify", { [channel]: address, code }))
})

/** A consumer that the organization's own sign-in names. */
const external = Effect.fnUntraced(function* (claims: object) {
  const { brand } = yield* Usher
  const who = { provider: "shop", issuer: "https://shop.example", subject: "1", claims }
  const { exchangeCode } = (yield* auth("external/authorize", who, asServer(brand.secretKey))).body
  return session(yield* auth("external/exchange", { exchangeCode }))
})

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
        const last = yield* unbounded.bid(yield* proved("email", "ann@example.com"), "999999999999.99", true)
        assert.deepStrictEqual(
          [last.status, last.body.code, last.body.maximumBid],
          [409, "BID_TOO_HIGH", "999999999998.99"]
        )
      })
    )

    it.effect(
      "asks a bidder with a proved address to confirm a bid above 100 times the minimum, and refuses others",
      () =>
        Effect.gen(function* () {
          const { guest } = yield* Usher
          const auction = yield* anAuction()
          const [first, anonymous] = [yield* guest(), yield* guest()]
          yield* auction.bid(first, "10")
          const unlikely = [409, { error: "Bid is unusually high", code: "BID_UNLIKELY", maximumBid: "1100" }]
          const before = [(yield* auction.currentPrice).body, (yield* auction.history()).body]
          const foreign = yield* external({ email: "known@example.com", email_verified: true })
          const refuses = Effect.fnUntraced(function* (bidder: Guest, ...bid: readonly [string, unknown?]) {
            const { status, body } = yield* auction.bid(bidder, ...bid)
            assert.deepStrictEqual<ReadonlyArray<unknown>>([status, body], unlikely)
          })
          for (const confirmed of [undefined, false, null, true]) {
            yield* refuses(anonymous, "999999999998.98", confirmed)
            yield* refuses(foreign, "1100.01", confirmed)
          }
          assert.strictEqual((yield* auction.bid(anonymous, "1101", "yes")).status, 400)
          assert.deepStrictEqual([(yield* auction.currentPrice).body, (yield* auction.history()).body], before)
          assert.strictEqual((yield* auction.bid(anonymous, "1100")).body.status, "WINNING")
          for (const [channel, address, amount] of [
            ["email", "bea@example.com", "110200"],
            ["phone", "+41791234567", "20000000.50"]
          ] as const) {
            const known = yield* proved(channel, address)
            assert.strictEqual((yield* auction.bid(known, amount)).body.code, "BID_UNLIKELY")
            assert.strictEqual((yield* auction.bid(known, amount, true)).body.status, "WINNING")
          }
        })
    )

    it.effect("gives the lead and the price back to who had them when bidders are denied", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const auction = yield* anAuction({ quantity: 2 })
        const [ann, bob, ...strangers] = yield* Effect.all([guest(), guest(), guest(), guest(), guest()])
        yield* auction.bid(ann, "12")
        yield* auction.bid(bob, "11")
        const shown = Effect.map(Effect.all([auction.bids(), auction.highestBid, auction.currentPrice]), (answers) =>
          answers.map(({ body }) => body)
        )
        const before = yield* shown
        for (const stranger of strangers) {
          const { minimumBid } = (yield* auction.bid(stranger, "1")).body
          assert.strictEqual((yield* auction.bid(stranger, `${Number(minimumBid) * 100}`)).status, 200)
        }
        assert.strictEqual((yield* auction.status(ann)).body.status, "OUTBID")
        for (const { consumerId } of strangers) yield* auction.deny({ consumerId, reason: "FRAUD_DETECTED" })
        assert.deepStrictEqual(yield* shown, before)
        for (const bidder of [ann, bob]) assert.strictEqual((yield* auction.status(bidder)).body.status, "WINNING")
        assert.strictEqual((yield* auction.bid(yield* guest(), "11.99")).body.minimumBid, "12")
      })
    )
  })
})
