/** Payments and refunds of units of a stock, which a provider reports. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { eventually } from "../../admin/adminFixture.ts"
import { aStock, layer as stocks } from "../../support/stockFixture.ts"
import { asConsumer, Usher } from "../../support/usherFixture.ts"
import { aCheckout, admin, aReceiver, aWorker, jtiOf, logOf, ordersOf, postStripe } from "./receiverFixture.ts"

/** A guest that holds a grant for a unit of the stock, and another one in line behind it. */
const aHeldUnit = Effect.fnUntraced(function* (stockId: string) {
  const { brand, consumer, guest, queue } = yield* Usher
  const engine = yield* Engine
  const id = yield* queue({ stockId, admitRate: 60_000 })
  const [holder, next] = [yield* guest(), yield* guest()]
  const ref = { kind: "queue", id, tenant: { organizationId: brand.organizationId, mode: "live" } } as const
  const read = ({ accessToken }: typeof holder) =>
    consumer({ path: `/api/queues/${id}/status`, headers: asConsumer(brand.publishableKey, accessToken) })
  for (const { consumerId } of [holder, next]) {
    yield* engine.send(ref, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 })
  }
  const { body } = yield* eventually(read(holder), (answer) => answer.body.status === "GRANTED")
  return {
    consumerId: holder.consumerId,
    jti: jtiOf(body.admissionGrant),
    leave: engine.send(ref, { _tag: "Leave", consumerId: holder.consumerId }),
    ofNext: read(next)
  }
})

describe("A payment for a unit of a stock", () => {
  layer(stocks, { excludeTestServices: true })((it) => {
    it.effect("sells it once, and its refund gives it to the next in line, if the brand takes units back", () =>
      Effect.gen(function* () {
        for (const returnsCancelled of [true, false]) {
          const receiver = yield* aReceiver()
          const stock = yield* aStock(1)
          yield* admin("PUT", `/stocks/${stock.id}`, { returnsCancelled })
          const { consumerId, jti, ofNext } = yield* aHeldUnit(stock.id)
          const { paid, paidLater, refunded } = aCheckout(jti)
          const handleAll = yield* aWorker
          yield* postStripe(receiver, paid)
          yield* postStripe(receiver, paidLater)
          yield* handleAll
          assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "PAID", grantLapsed: false })
          yield* eventually(stock.read, ({ sold }) => sold === 1)
          assert.strictEqual((yield* ofNext).body.status, "QUEUED")
          yield* postStripe(receiver, refunded)
          yield* handleAll
          assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "CANCELLED" })
          if (returnsCancelled) yield* eventually(ofNext, ({ body }) => body.status === "GRANTED")
          const isOver = returnsCancelled ? 0 : 1
          yield* eventually(stock.read, ({ sold, underway }) => sold === isOver && underway === 0)
          assert.strictEqual((yield* ofNext).body.status, returnsCancelled ? "GRANTED" : "QUEUED")
        }
      })
    )

    it.effect("takes a free unit if its grant had lapsed, which a refund frees, and none that others hold", () =>
      Effect.gen(function* () {
        for (const units of [2, 1]) {
          const receiver = yield* aReceiver()
          const stock = yield* aStock(units)
          const { consumerId, jti, leave, ofNext } = yield* aHeldUnit(stock.id)
          yield* leave
          // The next one holds the unit of the lapsed grant. Nobody waits for another one.
          yield* eventually(ofNext, ({ body }) => body.status === "GRANTED")
          yield* admin("PUT", `/stocks/${stock.id}`, { takers: [] })
          const free = units - 1
          yield* eventually(stock.read, (shown) => shown.free === free && shown.underway === 0)
          const { paid, refunded, ids } = aCheckout(jti)
          const handleAll = yield* aWorker
          yield* postStripe(receiver, paid)
          yield* handleAll
          assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "PAID", grantLapsed: true })
          assert.deepStrictEqual(yield* logOf(receiver), [`${ids.paid} NEEDS_ATTENTION GRANT_LAPSED`])
          assert.deepInclude(yield* stock.read, { free: 0, sold: free })
          const [order] = yield* ordersOf(consumerId)
          yield* admin("PUT", `/orders/${order!["id"]}`, { number: "7" })
          assert.deepInclude(yield* stock.read, { free: 0, sold: free })
          yield* postStripe(receiver, refunded)
          yield* handleAll
          yield* eventually(stock.read, (shown) => shown.free === free && shown.sold === 0)
        }
      })
    )
  })
})
