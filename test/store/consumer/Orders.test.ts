import { assert, describe, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { ofText, toText } from "../../../src/domain/values/Amount.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import type { Settings } from "../../../src/domain/consumer/Order.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { Orders } from "../../../src/store/consumer/Orders.ts"
import { aConsumer, aQueue, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"

const settings = (more: Partial<Settings> = {}): Settings => ({
  status: "CREATED",
  currencyCode: "EUR",
  items: [],
  placedAt: 1_000,
  ...more
})

const ordered = Effect.fnUntraced(function* (tenant: Tenant, consumerId: string, more: Partial<Settings> = {}) {
  const orders = yield* Orders
  const { origin } = yield* orders.originOf(tenant, { consumerId })
  return yield* orders.create(tenant, "someone", origin, settings(more))
})

const changed = Effect.fnUntraced(function* (tenant: Tenant, id: string, more: Partial<Settings>) {
  return yield* (yield* Orders).change(tenant, id, "another", (before) => Result.succeed({ ...before, ...more }))
})

/** Returns the consumer's order totals. */
const totals = Effect.fnUntraced(function* (consumerId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ order_count: number; total_order_value: string; last_order_at: Date | null }>`
    select order_count, total_order_value, last_order_at from consumers where id = ${consumerId}`
  return [row!.order_count, toText(ofText(row!.total_order_value)), row!.last_order_at?.getTime() ?? null]
})

const price = (unitPrice: string) => [{ quantity: 1, unitPrice }]

describe("Orders in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("return the given fields, and apply changes", () =>
      Effect.gen(function* () {
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const productId = randomUUID()
        const created = yield* ordered(tenant, consumerId, {
          externalId: "shop-1",
          number: "#1001",
          items: [{ productId, quantity: 3, unitPrice: "0.10" }],
          metadata: { gift: true },
          placedAt: 5_000
        })
        assert.deepInclude(created, {
          organizationId: tenant.organizationId,
          consumerId,
          externalId: "shop-1",
          number: "#1001",
          status: "CREATED",
          currencyCode: "EUR",
          total: "0.30",
          metadata: { gift: true },
          placedAt: 5_000,
          createdBy: "someone",
          updatedBy: "someone",
          archived: false
        })
        const line = { productId, productVariantId: null, quantity: 3, unitPrice: "0.10" }
        assert.deepStrictEqual(created.items, [line])
        assert.deepStrictEqual(yield* orders.find(tenant, created.id), created)
        const paid = yield* changed(tenant, created.id, { status: "PAID", total: "0.25" })
        assert.deepInclude(paid, { status: "PAID", total: "0.25", updatedBy: "another", fulfilledAt: null })
        assert.isNotNull(paid.paidAt)
        assert.deepStrictEqual(yield* orders.find(tenant, created.id), paid)
      })
    )

    it.effect("belong to one organization in one mode", () =>
      Effect.gen(function* () {
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const order = yield* ordered(tenant, consumerId)
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          for (const attempt of [orders.find(stranger, order.id), changed(stranger, order.id, { status: "PAID" })]) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record: "Order" })
          }
          assert.deepStrictEqual((yield* orders.list(stranger, {}, {})).data, [])
          const refused = yield* Effect.flip(orders.originOf(stranger, { consumerId }))
          assert.strictEqual(refused._tag, "UnknownReferences")
        }
        assert.deepStrictEqual(yield* orders.find(tenant, order.id), order)
      })
    )

    it.effect("count in their consumer's totals while they are not cancelled", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant({ currencyCode: "EUR" })
        const [buyer, other] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const first = yield* ordered(tenant, buyer, { items: price("0.1"), placedAt: 1_000 })
        const second = yield* ordered(tenant, buyer, { items: price("0.2"), placedAt: 3_000 })
        assert.deepStrictEqual(yield* totals(buyer), [2, "0.3", 3_000])
        yield* ordered(tenant, buyer, { items: price("100"), placedAt: 9_000, status: "CANCELLED" })
        assert.deepStrictEqual(yield* totals(buyer), [2, "0.3", 3_000])
        yield* changed(tenant, second.id, { status: "PAID" })
        yield* changed(tenant, first.id, { total: "5", placedAt: 2_000 })
        assert.deepStrictEqual(yield* totals(buyer), [2, "5.2", 3_000])
        yield* changed(tenant, second.id, { status: "CANCELLED" })
        assert.deepStrictEqual(yield* totals(buyer), [1, "5", 2_000])
        yield* changed(tenant, second.id, { status: "CANCELLED", total: "7" })
        yield* changed(tenant, first.id, { status: "CANCELLED" })
        assert.deepStrictEqual(yield* totals(buyer), [0, "0", null])
        assert.deepStrictEqual(yield* totals(other), [0, "0", null])
      })
    )

    it.effect("are all counted, however many are created and cancelled at once", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant({ currencyCode: "EUR" })
        const consumerId = yield* aConsumer(tenant)
        const one = (n: number) =>
          Effect.gen(function* () {
            const order = yield* ordered(tenant, consumerId, { items: price("0.1"), placedAt: n * 1_000 })
            if (n % 3 === 0) yield* changed(tenant, order.id, { status: "CANCELLED" })
          })
        yield* Effect.forEach(
          Array.from({ length: 30 }, (_, n) => n + 1),
          one,
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* totals(consumerId), [20, "2", 29_000])
      })
    )

    it.effect("notify every process when their consumer's totals have changed", () =>
      Effect.gen(function* () {
        const told: Array<string> = []
        const invalidations = yield* Invalidations
        const handle = (payload: string) => Effect.sync(() => void told.push(payload))
        yield* invalidations.subscribe("consumer", { handle, refresh: Effect.void })
        const tenant = yield* aTenant()
        const [quiet, consumerId] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        yield* ordered(tenant, quiet, { status: "CANCELLED" })
        yield* ordered(tenant, consumerId)
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => told.length > 0 })
        assert.deepStrictEqual(told, [`${tenant.organizationId} live ${consumerId}`])
      }).pipe(Effect.provide(Invalidations.layer), Effect.timeout("20 minutes"))
    )

    it.effect("have an external id that is unique in their tenant", () =>
      Effect.gen(function* () {
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const first = yield* ordered(tenant, consumerId, { externalId: "shop-1" })
        assert.strictEqual((yield* Effect.flip(orders.refuseTaken(tenant, "shop-1")))._tag, "ExternalIdTaken")
        yield* orders.refuseTaken(tenant, "shop-2")
        yield* orders.refuseTaken(tenant, undefined)
        yield* orders.refuseTaken(inTestMode(tenant), "shop-1")
        const before = yield* totals(consumerId)
        const refused = yield* Effect.flip(ordered(tenant, consumerId, { externalId: "shop-1" }))
        assert.strictEqual(refused._tag, "ExternalIdTaken")
        const second = yield* ordered(tenant, consumerId, { externalId: "shop-2" })
        const moved = yield* Effect.flip(changed(tenant, second.id, { externalId: "shop-1" }))
        assert.strictEqual(moved._tag, "ExternalIdTaken")
        assert.deepStrictEqual(yield* orders.find(tenant, first.id), first)
        assert.deepStrictEqual(yield* totals(consumerId), [2, before[1], before[2]])
        const foreign = yield* aTenant()
        yield* ordered(foreign, yield* aConsumer(foreign), { externalId: "shop-1" })
      })
    )

    it.effect("with the same external id at the same time are one order and refusals", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const consumers = yield* Effect.forEach(Array.from({ length: 8 }), () => aConsumer(tenant))
        const outcomes = yield* Effect.forEach(
          consumers,
          (consumerId) => Effect.result(ordered(tenant, consumerId, { externalId: "same", items: price("1") })),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(outcomes.filter(Result.isSuccess), 1)
        const counted = yield* Effect.forEach(consumers, totals)
        assert.strictEqual(counted.filter(([count]) => count === 1).length, 1)
      })
    )

    it.effect("reference existing records that belong together; absent references are derived", () =>
      Effect.gen(function* () {
        const orders = yield* Orders
        const tenant = yield* aTenant({ currencyCode: "CHF" })
        const consumerId = yield* aConsumer(tenant)
        const { id: distributionId, sequenceId, experienceId } = yield* aQueue(tenant)
        const other = yield* aQueue(tenant)
        const whole = { consumerId, experienceId, sequenceId, distributionId, distributionType: "queue" }
        const found = yield* orders.originOf(tenant, { consumerId, distributionId })
        assert.deepStrictEqual(found, { origin: whole, currencyCode: "USD" } as typeof found)
        assert.deepStrictEqual((yield* orders.originOf(tenant, whole)).origin, found.origin)
        const bare = yield* orders.originOf(tenant, { consumerId })
        assert.strictEqual(bare.currencyCode, "CHF")
        assert.deepInclude(bare.origin, { experienceId: null, sequenceId: null, distributionType: null })
        const problemsOf = (named: object) =>
          Effect.map(Effect.flip(orders.originOf(tenant, { consumerId, ...named })), (error) =>
            error._tag === "UnknownReferences" ? error.problems.map(({ field }) => field) : error._tag
          )
        const nobody = randomUUID()
        assert.deepStrictEqual(yield* problemsOf({ consumerId: nobody }), ["consumerId"])
        assert.deepStrictEqual(yield* problemsOf({ distributionId: nobody }), ["distributionId"])
        assert.deepStrictEqual(yield* problemsOf({ sequenceId: nobody }), ["sequenceId"])
        assert.deepStrictEqual(yield* problemsOf({ experienceId: nobody }), ["experienceId"])
        assert.deepStrictEqual(yield* problemsOf({ distributionId, sequenceId: other.sequenceId }), ["sequenceId"])
        assert.deepStrictEqual(yield* problemsOf({ sequenceId, experienceId: other.experienceId }), ["experienceId"])
        assert.deepStrictEqual(
          yield* problemsOf({ consumerId: nobody, distributionId: nobody, sequenceId: nobody, experienceId: nobody }),
          ["consumerId", "distributionId", "sequenceId", "experienceId"]
        )
        const archived = yield* aConsumer(tenant, { archived: true })
        assert.deepStrictEqual(yield* problemsOf({ consumerId: archived }), ["consumerId"])
        const late = yield* Effect.flip(
          orders.create(tenant, "x", { ...bare.origin, consumerId: archived }, settings())
        )
        assert.strictEqual(late._tag, "UnknownReferences")
      })
    )

    it.effect("are listed in every order, filtered by each filter, and found by external id and number", () =>
      Effect.gen(function* () {
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const [one, two] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const { id: distributionId, experienceId } = yield* aQueue(tenant)
        for (const [index, amount] of ["9", "10", "0.5", "100", "10"].entries()) {
          yield* ordered(tenant, index < 2 ? one : two, { items: price(amount), externalId: `shop-${index}` })
        }
        const { origin } = yield* orders.originOf(tenant, { consumerId: one, distributionId })
        const through = yield* orders.create(tenant, "x", origin, settings({ number: "R-77%" }))
        const paid = yield* changed(tenant, through.id, { status: "PAID" })
        for (const backward of [false, true]) {
          const sorted = yield* walk(2, (query) => orders.list(tenant, { ...query, sortBy: "total" }, {}), { backward })
          assert.deepStrictEqual(
            sorted.map(({ total }) => total),
            ["0", "0.5", "9", "10", "10", "100"]
          )
          for (const sortBy of ["createdAt", "updatedAt"] as const) {
            const all = yield* walk(2, (query) => orders.list(tenant, { ...query, sortBy }, {}), { backward })
            const times = all.map((order) => order[sortBy])
            assert.lengthOf(times, 6)
            assert.deepStrictEqual(
              times,
              times.toSorted((a, b) => a - b)
            )
          }
        }
        const ids = (filter: object, search?: string) =>
          Effect.map(orders.list(tenant, search === undefined ? {} : { search }, filter), ({ data }) =>
            data.map(({ id }) => id)
          )
        assert.lengthOf(yield* ids({ consumerId: one }), 3)
        assert.lengthOf(yield* ids({ status: "CREATED" }), 5)
        for (const filter of [{ status: "PAID" }, { experienceId }, { distributionId }]) {
          assert.deepStrictEqual(yield* ids(filter), [paid.id])
        }
        assert.deepStrictEqual(yield* ids({ consumerId: two, distributionId }), [])
        assert.lengthOf(yield* ids({}, "SHOP-"), 5)
        assert.lengthOf(yield* ids({}, "shop-3"), 1)
        assert.deepStrictEqual(yield* ids({}, "r-77%"), [paid.id])
        assert.deepStrictEqual(yield* ids({}, "7_"), [])
        const { pageInfo } = yield* orders.list(tenant, { first: 1 }, { status: "CREATED" })
        const other = orders.list(tenant, { first: 1, after: pageInfo.endCursor! }, { status: "PAID" })
        assert.strictEqual((yield* Effect.flip(other))._tag, "PageRefused")
      })
    )
  })
})
