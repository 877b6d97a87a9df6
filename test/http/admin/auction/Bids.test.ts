/** The bids of an auction on the Admin API, in the order in which they win. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aQueue, aSequence, eventually, layer as adminLayer } from "../adminFixture.ts"

/** Creates an auction with the bids of these amounts, in turn. Returns its id and the bidders. */
const auctioned = Effect.fnUntraced(function* (settings: object, amounts: ReadonlyArray<string>) {
  const { call, brand } = yield* Admin
  const engine = yield* Engine
  const { id: sequenceId } = yield* aSequence()
  const settleAt = new Date(Date.now() + 3_600_000).toISOString()
  const body = { sequenceId, name: "Lot", settleAt, startPrice: "10", ...settings }
  const id = (yield* call("POST", "/auctions", body)).body.id as string
  const auction = { kind: "auction", id, tenant: brand.tenant } as const
  const bidders: ReadonlyArray<string> = amounts.map(() => randomUUID())
  for (const [index, amount] of amounts.entries()) {
    yield* engine.send(auction, { _tag: "Bid", consumerId: bidders[index]!, isGuest: true, amount })
  }
  const entrant = randomUUID()
  yield* engine.send(auction, { _tag: "Enter", consumerId: entrant, isGuest: true })
  return {
    id,
    bidders,
    deny: (consumerId: string) => engine.send(auction, { _tag: "Deny", consumerId, by: "test", reason: "ADMIN_ACTION" })
  }
})

describe("The bids of an auction", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are listed as they would win, over all pages, and stay in that order once they have won", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id, bidders, deny } = yield* auctioned({ quantity: 3 }, ["10", "100.5", "10.00", "999", "101", "102"])
        const list = (query = "") => call("GET", `/auctions/${id}/bids?${query}`)
        const indices = (query = "") =>
          Effect.map(list(query), ({ body }) =>
            body.data.map(({ consumerId }: { readonly consumerId: string }) => bidders.indexOf(consumerId))
          )
        const order = [3, 5, 4, 1, 0, 2]
        assert.deepStrictEqual(yield* indices(), order)
        const { data, pageInfo } = (yield* list("first=4")).body
        assert.deepInclude(data[3], { status: "OUTBID", lastBidAmount: "100.5", bidCount: 1 })
        assert.notProperty(data[3], "bidOrder")
        assert.deepStrictEqual(yield* indices(`first=4&after=${pageInfo.endCursor}`), order.slice(4))
        assert.deepStrictEqual(yield* indices("status=WINNING"), order.slice(0, 3))

        yield* deny(bidders[5]!)
        assert.deepStrictEqual(yield* indices("status=WINNING"), [3, 4, 1])
        yield* call("POST", `/auctions/${id}/close`, {})
        yield* eventually(list("status=WON"), ({ body }) => body.data.length === 3)
        assert.deepStrictEqual(yield* indices(), [3, 4, 1, 0, 2])

        for (const other of [stranger, rehearsal]) {
          assert.strictEqual((yield* call("GET", `/auctions/${id}/bids`, undefined, other)).status, 404)
        }
        assert.strictEqual((yield* call("GET", `/auctions/${(yield* aQueue()).id}/bids`)).status, 404)
      })
    )
  })
})
