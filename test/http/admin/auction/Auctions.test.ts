import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, anExperience, aSequence, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

const drop = { floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 10 }

/** Creates an auction below a new sequence of an experience in euros, and returns the response. */
const create = Effect.fnUntraced(function* (body: { readonly [name: string]: unknown } = {}) {
  const { call } = yield* Admin
  const { id: experienceId } = yield* anExperience({ currencyCode: "EUR", timeZone: "Europe/Berlin" })
  const { id: sequenceId } = yield* aSequence({ experienceId })
  return yield* call("POST", "/auctions", {
    name: "Lot",
    settleAt: inSeconds(3600),
    startPrice: "10",
    ...body,
    sequenceId
  })
})

describe("Auctions on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are english by default, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const settleAt = inSeconds(3600)
        const { status, body } = yield* create({ settleAt, startPrice: "010.50" })
        assert.strictEqual(status, 201)
        const { id, experienceId, sequenceId, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          name: "Lot",
          timeZone: "Europe/Berlin",
          supportsGuest: true,
          openAt: null,
          closeAt: settleAt,
          settleAt,
          currencyCode: "EUR",
          auctionType: "english",
          quantity: 1,
          autoExtendSeconds: 0,
          startPrice: "010.50",
          reservePrice: null,
          minBidIncrement: "0.01",
          maxBid: null,
          maxBidJump: null,
          floorPrice: null,
          priceDropAmount: null,
          priceDropIntervalSeconds: null,
          admissionExpirationSeconds: null,
          stockId: null,
          statusOverride: null,
          statusOverrideAt: null,
          statusOverrideBy: null,
          teardownStatus: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/auctions/${id}`)).body, body)
        assert.deepInclude((yield* call("GET", `/auctions?sequenceId=${sequenceId}`)).body.data, body)
        assert.isString(experienceId)
        const watched = yield* call("GET", `/distributions/${id}`)
        assert.deepInclude(watched.body, { type: "auction", lifecycle: "open", startPrice: "010.50" })
      })
    )

    it.effect("have a default increment of one smallest unit of their currency", () =>
      Effect.gen(function* () {
        const increments: ReadonlyArray<readonly [object, string]> = [
          [{ currencyCode: "JPY" }, "1"],
          [{ currencyCode: "KWD" }, "0.001"],
          [{ currencyCode: "USD" }, "0.01"],
          [{ currencyCode: null }, "0.01"],
          [{ minBidIncrement: "2.5" }, "2.5"]
        ]
        for (const [settings, minBidIncrement] of increments) {
          assert.strictEqual((yield* create({ ...settings })).body.minBidIncrement, minBidIncrement)
        }
      })
    )

    it.effect("can be dutch, with a floor and a drop", () =>
      Effect.gen(function* () {
        const { status, body } = yield* create({ auctionType: "dutch", startPrice: "100", ...drop, quantity: 3 })
        assert.strictEqual(status, 201)
        assert.deepInclude(body, {
          auctionType: "dutch",
          ...drop,
          quantity: 3,
          minBidIncrement: null,
          reservePrice: null
        })
      })
    )

    it.effect("refuse contradictory settings, and name each", () =>
      Effect.gen(function* () {
        const dutch = { auctionType: "dutch", startPrice: "100", ...drop }
        const mistakes: ReadonlyArray<readonly [{ readonly [name: string]: unknown }, ReadonlyArray<string>]> = [
          [
            { auctionType: "dutch" },
            ["floorPrice: amount", "priceDropAmount: amount", "priceDropIntervalSeconds: integer"]
          ],
          [{ ...dutch, floorPrice: "100.01" }, ["floorPrice: amount"]],
          [{ ...dutch, currencyCode: "JPY", priceDropAmount: "0.5" }, ["priceDropAmount: amount"]],
          [{ ...dutch, floorPrice: "39.999" }, ["floorPrice: amount"]],
          [
            { currencyCode: "KRW", startPrice: "10.5", minBidIncrement: "0.5", reservePrice: "20.5" },
            ["minBidIncrement: amount", "reservePrice: amount", "startPrice: amount"]
          ],
          [{ currencyCode: "KWD", startPrice: "10.0005" }, ["startPrice: amount"]],
          [{ maxBid: "99.999", maxBidJump: "0.001" }, ["maxBid: amount", "maxBidJump: amount"]],
          [
            { ...dutch, reservePrice: "1", minBidIncrement: "1", autoExtendSeconds: 5 },
            ["autoExtendSeconds: integer", "minBidIncrement: amount", "reservePrice: amount"]
          ],
          [drop, ["floorPrice: amount", "priceDropAmount: amount", "priceDropIntervalSeconds: integer"]],
          [{ closeAt: inSeconds(7200) }, ["settleAt: date_time"]],
          [{ openAt: inSeconds(7200) }, ["closeAt: date_time"]],
          [{ quantity: 0 }, ["quantity: min_value"]],
          [{ quantity: 1.5 }, ["quantity: integer"]],
          [{ autoExtendSeconds: -1 }, ["autoExtendSeconds: min_value"]],
          [{ currencyCode: "euro" }, ["currencyCode: picklist"]],
          [{ auctionType: "vickrey" }, ["auctionType: picklist"]],
          [{ startPrice: undefined }, ["startPrice: amount"]],
          [{ startPrice: null }, ["startPrice: amount"]],
          [{ startPrice: 10 }, ["startPrice: amount"]],
          [{ startPrice: "-1" }, ["startPrice: amount"]],
          [{ reservePrice: "1e3" }, ["reservePrice: amount"]],
          [{ minBidIncrement: "0" }, ["minBidIncrement: amount"]],
          [{ settleAt: undefined }, ["settleAt: string"]]
        ]
        for (const [settings, issues] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* create(settings)), issues, JSON.stringify(settings))
        }
        const [issue] = (yield* create({ ...dutch, floorPrice: "100.010" })).body.issues
        assert.deepInclude(issue, {
          message: "floorPrice must not be above the startPrice, which is 100",
          received: '"100.010"'
        })
      })
    )

    it.effect("can change their type until they open, and have fixed terms from then on", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = (yield* create({ openAt: inSeconds(1800), reservePrice: "20" })).body
        const half = yield* call("PUT", `/auctions/${id}`, { auctionType: "dutch", ...drop, startPrice: "100" })
        assert.deepStrictEqual(issuesOf(half), ["minBidIncrement: amount", "reservePrice: amount"])
        const nothing = { minBidIncrement: null, reservePrice: null }
        const dutch = yield* call("PUT", `/auctions/${id}`, {
          auctionType: "dutch",
          ...drop,
          startPrice: "100",
          ...nothing
        })
        assert.deepInclude(dutch.body, { auctionType: "dutch", ...drop, ...nothing })

        const { id: open } = (yield* create({ reservePrice: "20" })).body
        const changes = {
          reservePrice: "15",
          quantity: 2,
          closeAt: inSeconds(1800),
          startPrice: "9",
          currencyCode: "USD"
        }
        for (const [setting, value] of Object.entries(changes)) {
          const refused = yield* call("PUT", `/auctions/${open}`, { [setting]: value })
          assert.deepStrictEqual(
            [refused.status, refused.body],
            [409, { error: `${setting} cannot be changed any more`, code: "CONFIGURATION_FIXED" }]
          )
        }
        const still = { name: "Another", timeZone: "UTC", admissionExpirationSeconds: 60 }
        assert.deepInclude((yield* call("PUT", `/auctions/${open}`, still)).body, { ...still, reservePrice: "20" })
      })
    )

    it.effect("are settled without a request, and list the outcome of each bidder", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const { id } = (yield* create({ settleAt: inSeconds(1), startPrice: "1" })).body
        const auction = { kind: "auction", id, tenant: brand.tenant } as const
        const ada = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b01"
        const bob = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b02"
        yield* engine.send(auction, { _tag: "Bid", consumerId: ada, amount: "1" })
        yield* engine.send(auction, { _tag: "Bid", consumerId: bob, amount: "2" })
        const watched = yield* eventually(call("GET", `/distributions/${id}`), ({ body }) => body.live.counts.WON === 1)
        assert.deepInclude(watched.body, { lifecycle: "settling", teardownStatus: "pending" })
        assert.deepInclude(watched.body.live.counts, { WON: 1, LOST: 1, WINNING: 0 })
        const won = yield* call("GET", `/distributions/${id}/consumers?status=WON`)
        assert.lengthOf(won.body.data, 1)
        assert.deepInclude(won.body.data[0], { consumerId: bob, status: "WON", winningBidAmount: "2", bidCount: 1 })
        const types = (yield* call("GET", `/distributions/${id}/history`)).body.data.map(
          ({ type }: { readonly type: string }) => type
        )
        assert.deepStrictEqual(types, [
          "Configured",
          "Entered",
          "BidPlaced",
          "Entered",
          "BidPlaced",
          "Outbid",
          "Closed",
          "Won",
          "Lost"
        ])
      })
    )

    it.effect("are cancelled when they are ended: no bidder wins", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const { id } = (yield* create()).body
        const auction = { kind: "auction", id, tenant: brand.tenant } as const
        const consumerId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b01"
        yield* engine.send(auction, { _tag: "Bid", consumerId, amount: "100" })
        const ended = yield* call("POST", `/auctions/${id}/end`)
        assert.deepInclude(ended.body, { statusOverride: "ended" })
        const view = yield* engine.view(auction, consumerId)
        assert.deepInclude(view, { status: "DENIED", reason: "AUCTION_CLOSED" })
        const refused = yield* call("PUT", `/auctions/${id}`, { name: "Another" })
        assert.deepStrictEqual([refused.status, refused.body], [409, { error: "Auction is closed", code: "CLOSED" }])
        const archived = yield* call("DELETE", `/auctions/${id}`)
        assert.strictEqual(archived.body.archived, true)
        assert.deepStrictEqual((yield* call("GET", `/auctions/${id}`)).body, { error: "Auction not found" })
      })
    )

    it.effect("are closed before their time, once, and end with the bids that lead", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* create({ openAt: inSeconds(3_000) })
        const early = yield* call("POST", `/auctions/${body.id}/close`)
        assert.strictEqual(early.status, 423)
        const { id } = (yield* create()).body
        const closed = yield* call("POST", `/auctions/${id}/close`)
        assert.strictEqual(closed.status, 200)
        assert.strictEqual(closed.body.closeAt, closed.body.settleAt)
        assert.isNull(closed.body.statusOverride)
        assert.strictEqual((yield* call("POST", `/auctions/${id}/close`)).body.code, "CLOSED")
      })
    )
  })
})
