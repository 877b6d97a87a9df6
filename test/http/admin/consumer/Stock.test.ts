/** How orders count the stock of variants. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aQueue, type Answer, layer as adminLayer, type Organization } from "../adminFixture.ts"
import { aProduct, aVariant, unknown } from "../catalogue/catalogueFixture.ts"
import { aGrant, anOrder, consumerOf, ordersOf } from "./orderFixture.ts"

/** Creates a variant with a number of units and a policy, and returns an effect that reads its current stock. */
const aStock = Effect.fnUntraced(function* (
  inventoryPolicy: string,
  inventoryQuantity: number | null,
  as?: Organization
) {
  const { call } = yield* Admin
  const { id: productId } = yield* aProduct({}, as)
  const { id } = yield* aVariant({ productId, inventoryPolicy, inventoryQuantity }, as)
  const read = call("GET", `/variants/${id}`, undefined, as)
  return {
    id: id as string,
    read,
    left: Effect.map(read, ({ body }) => body.inventoryQuantity as number | null),
    change: (body: object) => call("PUT", `/variants/${id}`, body, as)
  }
})

const items = (...sold: ReadonlyArray<readonly [variant: { readonly id: string }, quantity: number]>) =>
  sold.map(([{ id: productVariantId }, quantity]) => ({ productVariantId, quantity, unitPrice: "19.90" }))

const outOfStock = ({ id }: { readonly id: string }, available: number, { status, body }: Answer) => {
  const { error, ...rest } = body
  assert.deepStrictEqual([status, rest], [409, { code: "OUT_OF_STOCK", productVariantId: id, available }])
  assert.include(error, id)
}

describe("The stock of a variant", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("decreases with each order until none is left, under the policy deny", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const shoe = yield* aStock("deny", 3)
        const consumerId = yield* consumerOf(brand)
        const before = (yield* shoe.read).body
        const order = yield* anOrder({ consumerId, items: items([shoe, 2]) })
        const after = (yield* shoe.read).body
        assert.deepStrictEqual(after, {
          ...before,
          inventoryQuantity: 1,
          updatedAt: order.createdAt,
          updatedBy: order.createdBy
        })
        const twice = { consumerId, items: items([shoe, 1], [shoe, 1]) }
        outOfStock(shoe, 1, yield* call("POST", "/orders", twice))
        assert.lengthOf(yield* ordersOf(consumerId), 1)
        yield* anOrder({ consumerId, items: items([shoe, 1]) })
        assert.strictEqual(yield* shoe.left, 0)
        outOfStock(shoe, 0, yield* call("POST", "/orders", { consumerId, items: items([shoe, 1]) }))
        const { body } = yield* call("GET", `/consumers/${consumerId}`)
        assert.deepInclude(body, { orderCount: 2, totalOrderValue: "59.70" })
      })
    )

    it.effect(
      "falls below zero under continue, stays unchanged under untracked, and counts as 0 where it is not set",
      () =>
        Effect.gen(function* () {
          const { call, brand } = yield* Admin
          const consumerId = yield* consumerOf(brand)
          const [more, any] = [yield* aStock("continue", 1), yield* aStock("untracked", 1)]
          const [nothing, owed] = [yield* aStock("deny", null), yield* aStock("continue", null)]
          yield* anOrder({ items: items([more, 3], [any, 3], [owed, 2], [{ id: unknown }, 9]) })
          assert.deepStrictEqual([yield* more.left, yield* any.left, yield* owed.left], [-2, 1, -2])
          outOfStock(nothing, 0, yield* call("POST", "/orders", { consumerId, items: items([nothing, 1]) }))
          assert.isNull(yield* nothing.left)
        })
    )

    it.effect("is reserved for all items of an order or for none", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const [shoe, hat, bag] = [yield* aStock("deny", 5), yield* aStock("deny", 1), yield* aStock("continue", 0)]
        const consumerId = yield* consumerOf(brand)
        const refused = { consumerId, items: items([shoe, 2], [bag, 1], [hat, 2]) }
        outOfStock(hat, 1, yield* call("POST", "/orders", refused))
        assert.deepStrictEqual([yield* shoe.left, yield* hat.left, yield* bag.left], [5, 1, 0])
        assert.deepStrictEqual(yield* ordersOf(consumerId), [])
        const order = yield* anOrder({ consumerId, items: items([shoe, 1]) })
        const changed = yield* call("PUT", `/orders/${order.id}`, { items: items([hat, 2]), number: "#2" })
        outOfStock(hat, 1, changed)
        assert.deepStrictEqual((yield* call("GET", `/orders/${order.id}`)).body, order)
        assert.deepStrictEqual([yield* shoe.left, yield* hat.left], [4, 1])
      })
    )

    it.effect("regains the units of a cancelled order, once", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const shoe = yield* aStock("deny", 3)
        const { id } = yield* anOrder({ items: items([shoe, 3]) })
        assert.strictEqual(yield* shoe.left, 0)
        for (const change of [
          { status: "CANCELLED" },
          { status: "CANCELLED" },
          { items: items([shoe, 1]) },
          { items: null }
        ]) {
          assert.strictEqual((yield* call("PUT", `/orders/${id}`, change)).status, 200)
          assert.strictEqual(yield* shoe.left, 3)
        }
        yield* anOrder({ items: items([shoe, 9]), status: "CANCELLED" })
        assert.strictEqual(yield* shoe.left, 3)
      })
    )

    it.effect("changes by the difference when an order's items change, and by no other change", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const [shoe, hat] = [yield* aStock("deny", 5), yield* aStock("deny", 5)]
        const { id } = yield* anOrder({ items: items([shoe, 2]) })
        const left = Effect.all([shoe.left, hat.left])
        for (const [change, shoes, hats] of [
          [{ items: items([shoe, 4]) }, 1, 5],
          [{ status: "PAID", number: "#1", total: "1.00", metadata: { a: 1 } }, 1, 5],
          [{ items: items([shoe, 1], [hat, 3], [shoe, 1]) }, 3, 2],
          [{ items: items([hat, 5]) }, 5, 0],
          [{ status: "FULFILLED" }, 5, 0],
          [{ items: null }, 5, 5]
        ] as const) {
          const answer = yield* call("PUT", `/orders/${id}`, change)
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepStrictEqual(yield* left, [shoes, hats], JSON.stringify(change))
        }
      })
    )

    it.effect("regains exactly the taken units, even if the policy has changed since", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const [counted, free] = [yield* aStock("deny", 5), yield* aStock("untracked", 5)]
        const order = yield* anOrder({ items: items([counted, 2], [free, 2]) })
        yield* counted.change({ inventoryPolicy: "untracked" })
        yield* free.change({ inventoryPolicy: "deny" })
        yield* call("PUT", `/orders/${order.id}`, { items: items([counted, 3], [free, 3]) })
        assert.deepStrictEqual([yield* counted.left, yield* free.left], [3, 4])
        yield* counted.change({ inventoryQuantity: 10 })
        yield* call("PUT", `/orders/${order.id}`, { status: "CANCELLED" })
        assert.deepStrictEqual([yield* counted.left, yield* free.left], [12, 5])
      })
    )

    it.effect("is counted for its own organization and mode, also after the variant is archived", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal, brand } = yield* Admin
        const shoe = yield* aStock("deny", 1)
        for (const as of [stranger, rehearsal]) yield* anOrder({ items: items([shoe, 9]) }, as)
        assert.strictEqual(yield* shoe.left, 1)
        assert.strictEqual((yield* call("DELETE", `/variants/${shoe.id}`)).status, 200)
        const body = { consumerId: yield* consumerOf(brand), items: items([shoe, 1]) }
        assert.strictEqual((yield* call("POST", "/orders", body)).status, 201)
        outOfStock(shoe, 0, yield* call("POST", "/orders", body))
      })
    )

    it.effect("prevents a grant from being completed when it is used up", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const shoe = yield* aStock("deny", 1)
        const { consumerId, distributionId, status } = yield* aGrant
        const order = { consumerId, distributionId }
        outOfStock(shoe, 1, yield* call("POST", "/orders", { ...order, items: items([shoe, 2]) }))
        assert.strictEqual(yield* status, "GRANTED")
        yield* anOrder({ ...order, items: items([shoe, 1]) })
        assert.strictEqual(yield* status, "COMPLETED")
        assert.strictEqual(yield* shoe.left, 0)
      })
    )

    it.effect("is not counted if the consumer holds no grant to complete", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const shoe = yield* aStock("deny", 1)
        const { distributionId } = yield* aGrant
        const consumerId = yield* consumerOf(brand)
        const refused = yield* call("POST", "/orders", { consumerId, distributionId, items: items([shoe, 1]) })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "INVALID_STATUS"])
        assert.strictEqual(yield* shoe.left, 1)
        assert.deepStrictEqual(yield* ordersOf(consumerId), [])
      })
    )

    it.effect("lets exactly ten of fifty granted consumers complete their grants at the same time", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization({ rateLimits: {} })
        const engine = yield* Engine
        const shoe = yield* aStock("deny", 10, as)
        const { id } = yield* aQueue({}, as)
        const queue = { kind: "queue", id, tenant: as.tenant } as const
        const consumers = yield* Effect.forEach(Array.from({ length: 50 }), () => consumerOf(as))
        for (const consumerId of consumers) {
          yield* engine.send(queue, { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 })
          yield* engine.send(queue, { _tag: "Admit", consumerId, by: "admin" })
        }
        const answers = yield* Effect.forEach(
          consumers,
          (consumerId) =>
            call("POST", "/orders", { consumerId, distributionId: id, items: items([shoe, 1]) }, as).pipe(
              Effect.map((answer) => ({ ...answer, consumerId }))
            ),
          { concurrency: "unbounded" }
        )
        const sold = answers.filter(({ status }) => status === 201)
        assert.lengthOf(sold, 10)
        for (const answer of answers) if (answer.status !== 201) outOfStock(shoe, 0, answer)
        assert.strictEqual(yield* shoe.left, 0)
        const outcomes = yield* Effect.forEach(answers, ({ consumerId, status }) =>
          Effect.map(engine.view(queue, consumerId), (view) => `${status} ${view.status}`)
        )
        const isSold = (outcome: string) => outcome === "201 COMPLETED"
        assert.lengthOf(outcomes.filter(isSold), 10)
        assert.deepStrictEqual([...new Set(outcomes.filter((outcome) => !isSold(outcome)))], ["409 GRANTED"])
      })
    )
  })
})
