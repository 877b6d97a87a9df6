/** Payments and refunds that Stripe reports, from the request to the order. Stripe's own library signs each request. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import {
  aCheckout,
  admin,
  aGrant,
  aReceiver,
  aWonAuction,
  aWorker,
  logOf,
  ordersOf,
  postStripe
} from "./receiverFixture.ts"

/** Lets the events that wait for another one be tried again at once. */
const dueNow = Effect.orDie(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update received_events set next_at = now() - interval '1 minute' where next_at is not null`
  )
)

describe("A payment that Stripe reports", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("completes the grant, and its order is paid", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerId, distributionId, jti, status } = yield* aGrant()
        const { session, paid, ids } = aCheckout(jti)
        assert.strictEqual((yield* postStripe(receiver, paid)).status, 200)
        yield* yield* aWorker
        const [order, ...others] = yield* ordersOf(consumerId)
        assert.deepStrictEqual(others, [])
        assert.deepInclude(order, {
          distributionId,
          distributionType: "queue",
          externalId: session.id,
          status: "PAID",
          total: "49.90",
          currencyCode: "EUR",
          grantLapsed: false,
          createdBy: `receiver:${receiver.id}`
        })
        assert.isString(order!["paidAt"])
        assert.strictEqual(yield* status, "COMPLETED")
        assert.deepStrictEqual(yield* logOf(receiver), [`${ids.paid} DONE ORDER_PAID`])
      })
    )

    it.effect("that comes twice, or in two events, is one order", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerId, jti } = yield* aGrant()
        const { paid, paidLater, ids } = aCheckout(jti)
        const handleAll = yield* aWorker
        yield* postStripe(receiver, paid)
        yield* postStripe(receiver, paid)
        yield* handleAll
        yield* postStripe(receiver, paid)
        yield* postStripe(receiver, paidLater)
        yield* handleAll
        assert.lengthOf(yield* ordersOf(consumerId), 1)
        assert.deepStrictEqual(yield* logOf(receiver), [
          `${ids.paid} DONE ORDER_PAID`,
          `${ids.paidLater} DONE ALREADY_DONE`
        ])
      })
    )

    it.effect("is handled once by two workers at the same time, and so are two events of one checkout", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const grants = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => aGrant())
        const checkouts = grants.map(({ jti }) => aCheckout(jti))
        yield* Effect.forEach(
          checkouts.flatMap(({ paid, paidLater }) => [paid, paidLater, paid]),
          (body) => postStripe(receiver, body),
          { concurrency: "unbounded" }
        )
        const workers = [yield* aWorker, yield* aWorker]
        yield* Effect.all(workers, { concurrency: "unbounded" })
        yield* dueNow
        yield* Effect.all(workers, { concurrency: "unbounded" })
        for (const { consumerId } of grants) {
          const orders = yield* ordersOf(consumerId)
          assert.deepStrictEqual(
            orders.map(({ status }) => status),
            ["PAID"]
          )
        }
        const log = yield* logOf(receiver)
        assert.lengthOf(log, 12)
        assert.lengthOf(
          log.filter((line) => line.endsWith("DONE ORDER_PAID")),
          6
        )
      })
    )

    it.effect("pays the order that the shop has made", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerId, distributionId, jti } = yield* aGrant()
        const made = yield* admin("POST", "/orders", { consumerId, distributionId, externalId: randomUUID() })
        const { paid, refunded } = aCheckout(jti)
        const handleAll = yield* aWorker
        yield* postStripe(receiver, paid)
        yield* handleAll
        assert.deepInclude((yield* ordersOf(consumerId))[0], { id: made.id, status: "PAID" })
        yield* postStripe(receiver, refunded)
        yield* handleAll
        assert.deepInclude((yield* ordersOf(consumerId))[0], { id: made.id, status: "CANCELLED" })
      })
    )

    it.effect("after the grant has ended is an order that needs attention", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const engine = yield* Engine
        const { consumerId, queue, jti, status } = yield* aGrant()
        yield* engine.send(queue, { _tag: "Leave", consumerId })
        const { paid, paidLater, ids } = aCheckout(jti)
        const handleAll = yield* aWorker
        yield* postStripe(receiver, paid)
        yield* handleAll
        yield* postStripe(receiver, paidLater)
        yield* handleAll
        const orders = yield* ordersOf(consumerId)
        assert.lengthOf(orders, 1)
        assert.deepInclude(orders[0], { status: "PAID", grantLapsed: true })
        assert.strictEqual(yield* status, "LEFT")
        assert.deepStrictEqual(yield* logOf(receiver), [
          `${ids.paid} NEEDS_ATTENTION GRANT_LAPSED`,
          `${ids.paidLater} NEEDS_ATTENTION GRANT_LAPSED`
        ])
        const order = orders[0]!["id"] as string
        const { data } = yield* admin("GET", `/audit-log?type=order.needs_attention&subjectId=${order}`)
        assert.deepStrictEqual(
          data.map(({ actor, after }: { actor: string; after: object }) => ({ actor, ...after })),
          [ids.paid, ids.paidLater].map((receivedEventId) => ({
            actor: `receiver:${receiver.id}`,
            reason: "GRANT_LAPSED",
            receiverId: receiver.id,
            receivedEventId
          }))
        )
      })
    )

    it.effect("for an earlier grant that was completed belongs to it, although another one followed", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const engine = yield* Engine
        const { consumerId, queue, jti } = yield* aGrant({ grantsPerConsumer: 2 })
        yield* engine.send(queue, { _tag: "Complete", consumerId, by: "admin", redemptionId: "cart" })
        yield* engine.send(queue, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 })
        yield* engine.send(queue, { _tag: "Admit", consumerId, by: "admin" })
        const { paid, ids } = aCheckout(jti)
        yield* postStripe(receiver, paid)
        yield* yield* aWorker
        assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "PAID", grantLapsed: false })
        assert.deepStrictEqual(yield* logOf(receiver), [`${ids.paid} DONE ORDER_PAID`])
        assert.strictEqual((yield* engine.view(queue, consumerId)).status, "GRANTED")
      })
    )

    it.effect("of a won auction must be the winning bid, in its currency", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerId, jti } = yield* aWonAuction("49.90")
        const other = aCheckout(jti, { amount_total: 4989 })
        const foreign = aCheckout(jti, { currency: "usd" })
        const right = aCheckout(jti)
        const handleAll = yield* aWorker
        for (const { paid } of [other, foreign]) {
          yield* postStripe(receiver, paid)
          yield* handleAll
        }
        assert.deepStrictEqual(yield* ordersOf(consumerId), [])
        yield* postStripe(receiver, right.paid)
        yield* handleAll
        assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "PAID", total: "49.90", currencyCode: "EUR" })
        assert.deepStrictEqual(yield* logOf(receiver), [
          `${other.ids.paid} NEEDS_ATTENTION AMOUNT_DIFFERS`,
          `${foreign.ids.paid} NEEDS_ATTENTION AMOUNT_DIFFERS`,
          `${right.ids.paid} DONE ORDER_PAID`
        ])
      })
    )

    it.effect("of a second checkout for the same grant needs attention", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerId, jti } = yield* aGrant()
        const [first, second] = [aCheckout(jti), aCheckout(jti)]
        const handleAll = yield* aWorker
        yield* postStripe(receiver, first.paid)
        yield* handleAll
        yield* postStripe(receiver, second.paid)
        yield* handleAll
        assert.lengthOf(yield* ordersOf(consumerId), 1)
        assert.include(yield* logOf(receiver), `${second.ids.paid} NEEDS_ATTENTION GRANT_HAS_ANOTHER_ORDER`)
      })
    )

    it.effect("for an unknown grant, or one of another tenant, needs attention; for none it is ignored", () =>
      Effect.gen(function* () {
        const { stranger } = yield* Usher
        const receiver = yield* aReceiver()
        const usher = yield* Usher
        const queue = yield* usher.queue({}, stranger.secretKey)
        const [unknown, foreign, none] = [aCheckout(`${randomUUID()}.1`), aCheckout(`${queue}.1`), aCheckout("cart 7")]
        const handleAll = yield* aWorker
        for (const { paid } of [unknown, foreign, none]) {
          yield* postStripe(receiver, paid)
          yield* handleAll
        }
        assert.deepStrictEqual(yield* logOf(receiver), [
          `${unknown.ids.paid} NEEDS_ATTENTION GRANT_UNKNOWN`,
          `${foreign.ids.paid} NEEDS_ATTENTION GRANT_UNKNOWN`,
          `${none.ids.paid} IGNORED IGNORED`
        ])
      })
    )
  })
})

describe("A refund that Stripe reports", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("cancels the order, and the unit stays sold", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const product = yield* admin("POST", "/products", { name: "Cap" })
        const variant = yield* admin("POST", "/variants", {
          productId: product.id,
          sku: "CAP",
          price: "49.90",
          inventoryPolicy: "deny",
          inventoryQuantity: 3
        })
        const { consumerId, distributionId, jti, status } = yield* aGrant()
        const items = [{ productVariantId: variant.id, quantity: 1, unitPrice: "49.90" }]
        const worth = { items, currencyCode: "EUR" }
        const order = yield* admin("POST", "/orders", { consumerId, distributionId, ...worth })
        const { paid, refunded, ids } = aCheckout(jti)
        const handleAll = yield* aWorker
        for (const body of [paid, refunded, refunded]) {
          yield* postStripe(receiver, body)
          yield* handleAll
        }
        assert.deepInclude((yield* ordersOf(consumerId))[0], { id: order.id, status: "CANCELLED" })
        assert.strictEqual(yield* status, "COMPLETED")
        const left = Effect.map(admin("GET", `/variants/${variant.id}`), ({ inventoryQuantity }) => inventoryQuantity)
        assert.strictEqual(yield* left, 2)
        // A later change of the cancelled order returns no units either.
        yield* admin("PUT", `/orders/${order.id}`, { number: "7" })
        assert.strictEqual(yield* left, 2)
        assert.deepStrictEqual(yield* logOf(receiver), [
          `${ids.paid} DONE ORDER_PAID`,
          `${ids.refunded} DONE ORDER_CANCELLED`
        ])
      })
    )

    it.effect("that arrives before its payment waits for it", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerId, jti } = yield* aGrant()
        const { paid, refunded, ids } = aCheckout(jti)
        const handleAll = yield* aWorker
        yield* postStripe(receiver, refunded)
        yield* handleAll
        assert.deepStrictEqual(yield* logOf(receiver), [`${ids.refunded} WAITING ORDER_UNKNOWN`])
        yield* postStripe(receiver, paid)
        yield* handleAll
        assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "PAID" })
        yield* dueNow
        yield* handleAll
        assert.deepInclude((yield* ordersOf(consumerId))[0], { status: "CANCELLED" })
        assert.deepStrictEqual(yield* logOf(receiver), [
          `${ids.refunded} DONE ORDER_CANCELLED`,
          `${ids.paid} DONE ORDER_PAID`
        ])
      })
    )

    it.effect("of a payment that is not Usher's is ignored after the last attempt", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { refunded, ids } = aCheckout(null)
        const handleAll = yield* aWorker
        yield* postStripe(receiver, refunded)
        for (let attempt = 1; attempt <= 9; attempt++) {
          assert.match((yield* logOf(receiver))[0]!, / WAITING /)
          yield* dueNow
          yield* handleAll
        }
        assert.deepStrictEqual(yield* logOf(receiver), [`${ids.refunded} IGNORED ORDER_UNKNOWN`])
      })
    )

    it.effect("in part, or of a fulfilled order, needs attention and cancels nothing", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const handleAll = yield* aWorker
        const { consumerId, jti } = yield* aGrant()
        const checkout = aCheckout(jti)
        yield* postStripe(receiver, checkout.paid)
        yield* handleAll
        const partial = checkout.refunded
          .replace('"refunded":true', '"refunded":false')
          .replace("evt_refund", "evt_part")
        yield* postStripe(receiver, partial)
        yield* handleAll
        const [order] = yield* ordersOf(consumerId)
        assert.strictEqual(order!["status"], "PAID")
        yield* admin("PUT", `/orders/${String(order!["id"])}`, { status: "FULFILLED" })
        yield* postStripe(receiver, checkout.refunded)
        yield* handleAll
        assert.strictEqual((yield* ordersOf(consumerId))[0]!["status"], "FULFILLED")
        const outcomes = (yield* logOf(receiver)).map((line) => line.split(" ").slice(1).join(" "))
        assert.deepStrictEqual(outcomes, [
          "DONE ORDER_PAID",
          "NEEDS_ATTENTION PARTLY_REFUNDED",
          "NEEDS_ATTENTION ORDER_FULFILLED"
        ])
      })
    )
  })
})
