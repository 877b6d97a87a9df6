/** Whether a reported payment is worth what its order or its grant asks, and whose it is. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { layer as usherLayer } from "../../support/usherFixture.ts"
import {
  aCheckout,
  admin,
  aGrant,
  aGrantIn,
  aProduct,
  aReceiver,
  aWonAuction,
  aWorker,
  logOf,
  ordersOf,
  postStripe
} from "./receiverFixture.ts"

type Checkout = ReturnType<typeof aCheckout>

/** Reports the payments one after another. Returns the outcome of each. */
const outcomesOf = Effect.fnUntraced(function* (checkouts: ReadonlyArray<Checkout>, settings: object = {}) {
  const receiver = yield* aReceiver(settings)
  const handleAll = yield* aWorker
  for (const { paid } of checkouts) {
    yield* postStripe(receiver, paid)
    yield* handleAll
  }
  const log = yield* logOf(receiver)
  return checkouts.map(({ ids }) => log.find((line) => line.startsWith(`${ids.paid} `))?.slice(ids.paid.length + 1))
})

const free = { payment_status: "no_payment_required", payment_intent: null, amount_total: 0 }

describe("A payment for an order of the shop", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("pays it only with its total, in its currency", () =>
      Effect.gen(function* () {
        const { consumerId, distributionId, jti } = yield* aGrant()
        const total = { total: "500.00", currencyCode: "EUR" }
        const { id } = yield* admin("POST", "/orders", { consumerId, distributionId, ...total })
        const wrong = [
          { amount_total: 1, currency: "jpy" },
          { amount_total: 50_000, currency: "usd" },
          { amount_total: 49_999 },
          { amount_total: 50_001 },
          { amount_total: 500, currency: "eur" },
          free
        ]
        const checkouts = [...wrong, { amount_total: 50_000 }].map((more) => aCheckout(jti, more))
        assert.deepStrictEqual(yield* outcomesOf(checkouts), [
          ...wrong.map(() => "NEEDS_ATTENTION AMOUNT_DIFFERS"),
          "DONE ORDER_PAID"
        ])
        const { data } = yield* admin("GET", `/audit-log?type=order.needs_attention&subjectId=${id}`)
        assert.deepStrictEqual(
          data.map(({ after }: { after: { reason: string } }) => after.reason),
          wrong.map(() => "AMOUNT_DIFFERS")
        )
        assert.deepInclude((yield* ordersOf(consumerId))[0], { id, status: "PAID", ...total })
      })
    )

    it.effect("is compared with the sum of its items, and with the grant's price if the order has neither", () =>
      Effect.gen(function* () {
        const items = [{ quantity: 2, unitPrice: "24.95" }]
        const summed = yield* aGrant()
        yield* admin("POST", "/orders", { ...ids(summed), items, currencyCode: "EUR" })
        const product = yield* aProduct("49.90")
        const bare = yield* aGrantIn({ products: [{ productId: product.id }] })
        yield* admin("POST", "/orders", ids(bare))
        for (const { jti } of [summed, bare]) {
          const checkouts = [aCheckout(jti, { amount_total: 2495 }), aCheckout(jti)]
          assert.deepStrictEqual(yield* outcomesOf(checkouts), ["NEEDS_ATTENTION AMOUNT_DIFFERS", "DONE ORDER_PAID"])
        }
      })
    )

    it.effect("needs attention if the shop has cancelled it, whichever checkout it comes from", () =>
      Effect.gen(function* () {
        const named = yield* aGrant()
        const later = aCheckout(named.jti)
        const other = yield* aGrant()
        for (const order of [
          { ...ids(named), externalId: later.session.id },
          { ...ids(other), externalId: randomUUID() }
        ]) {
          const { id } = yield* admin("POST", "/orders", { ...order, total: "49.90", currencyCode: "EUR" })
          yield* admin("PUT", `/orders/${id}`, { status: "CANCELLED" })
        }
        const receiver = yield* aReceiver()
        const handleAll = yield* aWorker
        const unrelated = aCheckout(other.jti)
        for (const body of [later.paid, later.paidLater, unrelated.paid]) {
          yield* postStripe(receiver, body)
          yield* handleAll
        }
        assert.deepStrictEqual(
          (yield* logOf(receiver)).map((line) => line.split(" ").slice(1).join(" ")),
          Array.from({ length: 3 }, () => "NEEDS_ATTENTION PAID_AFTER_CANCELLATION")
        )
        for (const { consumerId } of [named, other]) {
          const statuses = (yield* ordersOf(consumerId)).map(({ status }) => status)
          assert.deepStrictEqual(statuses, ["CANCELLED"])
        }
      })
    )

    it.effect("that was paid and given back is known when it is reported again", () =>
      Effect.gen(function* () {
        const { consumerId, jti } = yield* aGrant()
        const { paid, refunded, paidLater } = aCheckout(jti)
        const receiver = yield* aReceiver()
        const handleAll = yield* aWorker
        for (const body of [paid, refunded, paidLater]) {
          yield* postStripe(receiver, body)
          yield* handleAll
        }
        const outcomes = (yield* logOf(receiver)).map((line) => line.split(" ").slice(1).join(" "))
        assert.deepStrictEqual(outcomes, ["DONE ORDER_PAID", "DONE ORDER_CANCELLED", "DONE ALREADY_DONE"])
        assert.lengthOf(yield* ordersOf(consumerId), 1)
      })
    )
  })
})

describe("A payment for a grant without an order", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("is compared with the price, if the grant can be for one price only", () =>
      Effect.gen(function* () {
        const one = yield* aProduct("49.90", "49.9")
        const two = yield* aProduct("49.90", "99.00")
        const [, dearer] = two.variants
        const unpriced = yield* aProduct(null)
        const assigned = {
          sequence: { productSelectionMode: "SYSTEM_ASSIGNED", sequenceProducts: [{ productId: one.id, weight: 1 }] }
        }
        const both = [one, two].map(({ id }) => ({ productId: id }))
        const rows: ReadonlyArray<readonly [object, Parameters<typeof aGrantIn>[1], string]> = [
          [{ products: [{ productId: one.id }] }, {}, "DIFFERS"],
          [{ products: [{ productId: two.id, productVariantId: dearer.id }] }, {}, "DIFFERS"],
          [{ products: both }, { variantId: dearer.id }, "DIFFERS"],
          [{ products: both }, assigned, "DIFFERS"],
          // No single price is known.
          [{ products: both }, {}, "PAID"],
          [{ products: [{ productId: unpriced.id }] }, {}, "PAID"],
          [{}, {}, "PAID"]
        ]
        for (const [experience, named, outcome] of rows) {
          const { jti } = yield* aGrantIn(experience, named)
          const [result] = yield* outcomesOf([aCheckout(jti, { amount_total: 1, currency: "jpy" })])
          assert.strictEqual(
            result,
            outcome === "PAID" ? "DONE ORDER_PAID" : "NEEDS_ATTENTION AMOUNT_DIFFERS",
            JSON.stringify([experience, named])
          )
        }
        const { jti } = yield* aGrantIn({ products: both }, { variantId: dearer.id })
        assert.deepStrictEqual(yield* outcomesOf([aCheckout(jti), aCheckout(jti, { amount_total: 9900 })]), [
          "NEEDS_ATTENTION AMOUNT_DIFFERS",
          "DONE ORDER_PAID"
        ])
      })
    )

    it.effect("is compared with the price of the variant that was selected last", () =>
      Effect.gen(function* () {
        const product = yield* aProduct("49.90", "99.00")
        const [cheaper, dearer] = product.variants
        const { jti, enter } = yield* aGrantIn({ products: [{ productId: product.id }] }, { variantId: cheaper.id })
        yield* enter({ variantId: dearer.id })
        assert.deepStrictEqual(yield* outcomesOf([aCheckout(jti), aCheckout(jti, { amount_total: 9900 })]), [
          "NEEDS_ATTENTION AMOUNT_DIFFERS",
          "DONE ORDER_PAID"
        ])
      })
    )

    it.effect("of nothing completes it only if its price is 0 or not known", () =>
      Effect.gen(function* () {
        const rows = [
          ["0", "DONE ORDER_PAID"],
          ["0.00", "DONE ORDER_PAID"],
          [null, "DONE ORDER_PAID"],
          ["0.01", "NEEDS_ATTENTION AMOUNT_DIFFERS"],
          ["49.90", "NEEDS_ATTENTION AMOUNT_DIFFERS"]
        ] as const
        for (const [price, outcome] of rows) {
          const product = yield* aProduct(price)
          const { jti, consumerId } = yield* aGrantIn({ products: [{ productId: product.id }] })
          assert.deepStrictEqual(yield* outcomesOf([aCheckout(jti, free)]), [outcome], `${price}`)
          assert.lengthOf(yield* ordersOf(consumerId), outcome.startsWith("DONE") ? 1 : 0)
        }
      })
    )

    it.effect("may differ by what the shop allows: shipping and tax of an auction, a coupon", () =>
      Effect.gen(function* () {
        const total_details = { amount_shipping: 500, amount_tax: 1043, amount_discount: 0 }
        const sent = { amount_subtotal: 4990, amount_total: 6533, total_details }
        const reduced = { amount_subtotal: 4990, amount_total: 0, total_details: { amount_discount: 4990 } }
        const product = yield* aProduct("49.90")
        const rows = [
          [sent, [], "NEEDS_ATTENTION AMOUNT_DIFFERS"],
          [sent, ["SHIPPING"], "NEEDS_ATTENTION AMOUNT_DIFFERS"],
          [sent, ["SHIPPING", "TAX"], "DONE ORDER_PAID"],
          [reduced, ["SHIPPING", "TAX"], "NEEDS_ATTENTION AMOUNT_DIFFERS"],
          [reduced, ["DISCOUNT"], "DONE ORDER_PAID"]
        ] as const
        for (const [session, allowedAdjustments, outcome] of rows) {
          const auction = yield* aWonAuction("49.90")
          const release = yield* aGrantIn({ products: [{ productId: product.id }] })
          for (const { jti } of [auction, release]) {
            assert.deepStrictEqual(
              yield* outcomesOf([aCheckout(jti, session)], { allowedAdjustments }),
              [outcome],
              allowedAdjustments.join()
            )
          }
        }
      })
    )

    it.effect("is for nobody if the reference was counted or guessed", () =>
      Effect.gen(function* () {
        const { jti, consumerId } = yield* aGrant()
        const [mechanismId, sequence, proof = ""] = jti.split(".")
        const plain = `${mechanismId}.${sequence}`
        const other = (yield* aGrant()).jti.split(".")[2]
        const changed = `${proof.slice(0, -1)}${proof.endsWith("A") ? "B" : "A"}`
        const references = [plain, `${plain}.${other}`, `${plain}.${changed}`, `${plain}.${"A".repeat(22)}`]
        assert.deepStrictEqual(yield* outcomesOf([...references, jti].map((reference) => aCheckout(reference))), [
          ...references.map(() => "NEEDS_ATTENTION GRANT_UNKNOWN"),
          "DONE ORDER_PAID"
        ])
        assert.lengthOf(yield* ordersOf(consumerId), 1)
      })
    )
  })
})

describe("A second payment for a grant", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("needs attention also after a free checkout, and its refund touches no other order", () =>
      Effect.gen(function* () {
        for (const first of [free, { ...free, payment_status: "paid" }, {}]) {
          const { jti, consumerId } = yield* aGrant()
          const [one, two] = [aCheckout(jti, first), aCheckout(jti)]
          const receiver = yield* aReceiver()
          const handleAll = yield* aWorker
          for (const body of [one.paid, two.paid, two.refunded, one.paidLater]) {
            yield* postStripe(receiver, body)
            yield* handleAll
          }
          assert.deepStrictEqual(
            (yield* logOf(receiver)).map((line) => line.split(" ").slice(1).join(" ")),
            ["DONE ORDER_PAID", "NEEDS_ATTENTION GRANT_HAS_ANOTHER_ORDER", "WAITING ORDER_UNKNOWN", "DONE ALREADY_DONE"]
          )
          const [order, ...others] = yield* ordersOf(consumerId)
          assert.deepInclude(order, { status: "PAID", externalId: one.session.id })
          assert.deepStrictEqual(others, [])
        }
      })
    )

    it.effect("at the same time as the first, for an order of the shop, needs attention", () =>
      Effect.gen(function* () {
        const { consumerId, distributionId, jti } = yield* aGrant()
        const total = { total: "49.90", currencyCode: "EUR" }
        yield* admin("POST", "/orders", { consumerId, distributionId, ...total })
        const checkouts = [1, 2, 3, 4].map(() => aCheckout(jti))
        const receivers = yield* Effect.forEach(checkouts, () => aReceiver())
        yield* Effect.forEach(checkouts, ({ paid }, index) => postStripe(receivers[index]!, paid))
        yield* Effect.all([yield* aWorker, yield* aWorker, yield* aWorker], { concurrency: "unbounded" })
        const outcomes = (yield* Effect.forEach(receivers, logOf)).flat().map((line) => line.split(" ")[2])
        assert.sameMembers(outcomes, ["ORDER_PAID", ...[1, 2, 3].map(() => "GRANT_HAS_ANOTHER_ORDER")])
      })
    )
  })
})

const ids = ({ consumerId, distributionId }: { readonly consumerId: string; readonly distributionId: string }) => ({
  consumerId,
  distributionId
})
