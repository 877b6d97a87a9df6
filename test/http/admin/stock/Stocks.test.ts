/** Stocks on the Admin API. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aQueue } from "../adminFixture.ts"
import { unknown } from "../catalogue/catalogueFixture.ts"
import { anOrder, consumerOf } from "../consumer/orderFixture.ts"
import { layer as stocks, sellingFrom, stockOf, until, variantOf } from "./stockFixture.ts"

/** Lets a consumer enter and be granted in a timed release. */
const granted = Effect.fnUntraced(function* (release: string) {
  const { brand } = yield* Admin
  const engine = yield* Engine
  const consumerId = yield* consumerOf(brand)
  const mechanism = { kind: "timed_release", id: release, tenant: brand.tenant } as const
  yield* engine.send(mechanism, { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 } as never)
  return consumerId
})

const sum = (allocations: ReadonlyArray<{ readonly allocated: number }>) =>
  allocations.reduce((all, { allocated }) => all + allocated, 0)

describe("A stock on the Admin API", () => {
  layer(stocks, { excludeTestServices: true })((it) => {
    it.effect("begins with the inventory of its variants, and is adjusted with a reason that is audited", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const [one, two] = [yield* variantOf(7), yield* variantOf(3)]
        const created = yield* call("POST", "/stocks", { name: "Pairs", variantIds: [one, two], lowAt: 2 })
        assert.strictEqual(created.status, 201)
        const { id } = created.body
        assert.deepInclude(created.body, { onHand: 10, level: "AVAILABLE", takers: [], returnsCancelled: true })
        const { body: adjusted } = yield* call("POST", `/stocks/${id}/adjust`, { by: -8, reason: "DAMAGED" })
        assert.deepInclude(adjusted, { onHand: 2, free: 2, sold: 0, underway: 0, level: "LOW", allocations: [] })
        const tooMany = yield* call("POST", `/stocks/${id}/adjust`, { by: -3, reason: "DAMAGED" })
        assert.deepInclude(tooMany.body, { code: "OUT_OF_STOCK", available: 2 })
        assert.strictEqual(tooMany.status, 409)
        yield* call("POST", `/stocks/${id}/adjust`, { by: -2, reason: "WITHDRAWN" })
        yield* call("POST", `/stocks/${id}/adjust`, { by: 5, reason: "DELIVERED" })
        const { body: log } = yield* call("GET", `/audit-log?subjectId=${id}`)
        const types = log.data.map(({ type }: { type: string }) => type)
        assert.sameMembers(types, [
          "stock.created",
          "stock.adjusted",
          "stock.low",
          "stock.adjusted",
          "stock.empty",
          "stock.adjusted",
          "stock.refilled"
        ])
        const { body: history } = yield* call("GET", `/stocks/${id}/history?type=Adjusted`)
        assert.deepStrictEqual(
          history.data.map(({ text }: { text: string }) => text),
          [
            "10 units were added: COUNTED.",
            "8 units were taken away: DAMAGED.",
            "2 units were taken away: WITHDRAWN.",
            "5 units were added: DELIVERED."
          ]
        )
        const numbers = Effect.map(
          Effect.forEach([one, two], (variant) => call("GET", `/variants/${variant}`)),
          (answers) => answers.map(({ body }) => body.inventoryQuantity)
        )
        yield* until(numbers, (shown) => shown.join() === "5,5")
        const changed = yield* call("PUT", `/variants/${one}`, { inventoryQuantity: 50 })
        assert.deepStrictEqual([changed.status, changed.body.code], [409, "VARIANT_IN_STOCK"])
        assert.strictEqual((yield* call("PUT", `/variants/${one}`, { sku: "RED" })).status, 200)
        const archived = yield* call("DELETE", `/stocks/${id}`)
        assert.deepInclude(archived.body, { id, archived: true })
        assert.deepStrictEqual(yield* numbers, [5, 0])
        assert.strictEqual((yield* call("GET", `/stocks/${id}`)).status, 404)
        assert.strictEqual((yield* call("PUT", `/variants/${one}`, { inventoryQuantity: 50 })).status, 200)
        assert.strictEqual((yield* call("POST", "/stocks", { name: "Next", variantIds: [one] })).body.onHand, 50)
      })
    )

    it.effect("has variants and takers of its own organization only, and a variant belongs to one stock", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const own = yield* stockOf(1)
        for (const other of [stranger, rehearsal]) {
          const theirs = yield* variantOf(1, other)
          const { id: queue } = yield* aQueue({}, other)
          const refusedVariant = yield* call("POST", "/stocks", { name: "A", variantIds: [theirs] })
          assert.deepStrictEqual(refusedVariant.body, { error: "Variant not found" })
          const takers = [{ distributionId: queue }]
          const refusedTaker = yield* call("PUT", `/stocks/${own.id}`, { takers })
          assert.deepStrictEqual([refusedTaker.status, refusedTaker.body], [404, { error: "Distribution not found" }])
          for (const [method, path, body] of [
            ["GET", ""],
            ["PUT", "", { name: "Mine" }],
            ["DELETE", ""],
            ["GET", "/history"],
            ["POST", "/adjust", { by: 1, reason: "OTHER" }]
          ] as const) {
            assert.strictEqual((yield* call(method, `/stocks/${own.id}${path}`, body, other)).status, 404, path)
          }
          const { id: queueOfTheirs } = yield* aQueue({ stockId: own.id }, other)
          assert.isUndefined(queueOfTheirs)
        }
        const twice = yield* call("POST", "/stocks", { name: "B", variantIds: [own.variantId] })
        assert.deepStrictEqual([twice.status, twice.body.code], [409, "VARIANT_IN_STOCK"])
        const double = yield* call("POST", "/stocks", { name: "B", variantIds: [unknown, unknown] })
        assert.strictEqual(double.status, 400)
      })
    )

    it.effect("lists a mechanism that names it as its last taker, and sends it units", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const stock = yield* stockOf(5)
        const first = yield* sellingFrom(stock.id, "/timed-releases", {})
        const second = yield* sellingFrom(stock.id, "/queues", { admitRate: 0 })
        assert.deepStrictEqual((yield* stock.read).takers, [{ distributionId: first }, { distributionId: second }])
        const body = yield* until(stock.read, ({ allocations, free }) => sum(allocations) === 5 && free === 0)
        assert.deepStrictEqual(body.allocations[0], { distributionId: first, allocated: 5, held: 0, sold: 0 })
        const { body: shown } = yield* call("GET", `/distributions/${first}`)
        assert.deepInclude(shown, { stockId: stock.id, allocation: { units: 5, held: 0, free: 5, sold: 0 } })
        const inUse = yield* call("DELETE", `/stocks/${stock.id}`)
        assert.deepStrictEqual([inUse.status, inUse.body.code], [409, "STOCK_IN_USE"])
        const { body: plain } = yield* call("GET", `/distributions/${(yield* aQueue()).id}`)
        assert.deepInclude(plain, { stockId: null, allocation: null })
        const opened = yield* call("PUT", `/timed-releases/${first}`, { stockId: null })
        assert.deepStrictEqual([opened.status, opened.body.code], [409, "CONFIGURATION_FIXED"])
      })
    )

    it.effect("counts orders, and takes their units back when they are cancelled, if the brand wishes so", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        for (const returnsCancelled of [true, false]) {
          const stock = yield* stockOf(3, { returnsCancelled })
          const consumerId = yield* consumerOf(brand)
          const order = yield* anOrder({ consumerId, items: stock.items(2) })
          assert.deepInclude(yield* stock.read, { free: 1, sold: 2, onHand: 3 })
          const refused = yield* call("POST", "/orders", { consumerId, items: stock.items(2) })
          assert.deepInclude(refused.body, {
            code: "OUT_OF_STOCK",
            productVariantId: stock.variantId,
            available: 1
          })
          const more = yield* call("PUT", `/orders/${order.id}`, { items: stock.items(3) })
          assert.strictEqual(more.status, 200)
          assert.deepInclude(yield* stock.read, { free: 0, sold: 3, level: "EMPTY" })
          assert.strictEqual((yield* call("PUT", `/orders/${order.id}`, { items: stock.items(4) })).status, 409)
          yield* call("PUT", `/orders/${order.id}`, { status: "PAID" })
          assert.deepInclude(yield* stock.read, { free: 0, sold: 3 })
          const cancelled = yield* call("PUT", `/orders/${order.id}`, { status: "CANCELLED" })
          assert.strictEqual(cancelled.status, 200)
          const sql = yield* SqlClient.SqlClient
          yield* until(sql`select 1 from stock_messages where stock_id = ${stock.id}`, (rows) => rows.length === 0)
          const back = returnsCancelled ? { free: 3, sold: 0 } : { free: 0, sold: 3 }
          assert.deepInclude(yield* stock.read, back)
        }
      })
    )

    it.effect("gives the units of an order that is not written back", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const stock = yield* stockOf(3)
        const { id: distributionId } = yield* aQueue()
        const consumerId = yield* consumerOf(brand)
        const refused = yield* call("POST", "/orders", { consumerId, distributionId, items: stock.items(2) })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "INVALID_STATUS"])
        yield* until(stock.read, ({ free }) => free === 3)
        assert.deepInclude(yield* stock.read, { sold: 0, onHand: 3 })
      })
    )

    it.effect("counts the order of a grant in its mechanism, once, also after it was cancelled and ordered again", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const stock = yield* stockOf(4)
        const release = yield* sellingFrom(stock.id, "/timed-releases", {})
        yield* until(call("GET", `/distributions/${release}`), ({ body }) => body.allocation.units === 4)
        const consumerId = yield* granted(release)
        assert.deepInclude((yield* call("GET", `/distributions/${release}`)).body.allocation, { held: 1, free: 3 })
        const body = { consumerId, distributionId: release, items: stock.items(1) }
        const order = yield* anOrder(body)
        const sold = yield* until(stock.read, (shown) => shown.sold === 1)
        assert.deepInclude(sold.allocations[0], { distributionId: release, allocated: 3, held: 0, sold: 1 })
        yield* call("PUT", `/orders/${order.id}`, { status: "CANCELLED" })
        yield* until(stock.read, (shown) => shown.sold === 0)
        // All units are with the release, so the same grant cannot be ordered again.
        yield* until(stock.read, ({ free, underway }) => free === 0 && underway === 0)
        assert.strictEqual((yield* call("POST", "/orders", body)).body.code, "OUT_OF_STOCK")
        yield* call("POST", `/stocks/${stock.id}/adjust`, { by: 1, reason: "DELIVERED" })
        assert.deepInclude(yield* stock.read, { onHand: 5 })
      })
    )
  })
})
