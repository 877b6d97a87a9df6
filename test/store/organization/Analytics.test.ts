import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Interval, Where } from "../../../src/domain/organization/Analytics.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import type { OrderStatus } from "../../../src/domain/consumer/Order.ts"
import { Analytics, type AnalyticsRequest } from "../../../src/store/organization/Analytics.ts"
import { Orders } from "../../../src/store/consumer/Orders.ts"
import { aConsumer, aQueue, aTenant, inTestMode, layer as recordsLayer } from "../support/recordsFixture.ts"

const records = Analytics.layer.pipe(Layer.provideMerge(recordsLayer))

const at = (text: string) => Date.parse(text)

/** Creates a queue that consumers entered at these instants. */
const entered = (tenant: Tenant, times: ReadonlyArray<string>, options: object = {}) =>
  aQueue(tenant, {
    ...options,
    places: times.map((time) => ({
      consumerId: randomUUID(),
      status: "QUEUED",
      enteredAt: at(time),
      updatedAt: at(time),
      fields: {}
    }))
  })

const entries: AnalyticsRequest = { kind: "queue", type: "Entered", field: null }

/** Returns the counts of one kind of event, as `bucket: count`. */
const counts = Effect.fnUntraced(function* (
  tenant: Tenant,
  from: string,
  to: string,
  options: { readonly interval?: Interval; readonly where?: Where; readonly wanted?: AnalyticsRequest } = {}
) {
  const { interval = "1h", where = {}, wanted = entries } = options
  const question = { wanted: [wanted], range: { from: at(from), to: at(to) }, interval, where }
  const tallies = yield* (yield* Analytics).tallies(tenant, question)
  return tallies
    .toSorted((a, b) => a.bucket - b.bucket)
    .map(({ bucket, count }) => `${new Date(bucket).toISOString().slice(0, 16)}: ${count}`)
})

describe("The analytics store in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("counts an event on an edge in the bucket that begins there, and excludes the end of the range", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        yield* entered(tenant, [
          "2026-11-21T09:59:59.999Z",
          "2026-11-21T10:00:00.000Z",
          "2026-11-21T10:59:59.999Z",
          "2026-11-21T11:00:00.000Z",
          "2026-11-21T12:00:00.000Z"
        ])
        assert.deepStrictEqual(yield* counts(tenant, "2026-11-21T10:00:00Z", "2026-11-21T12:00:00Z"), [
          "2026-11-21T10:00: 2",
          "2026-11-21T11:00: 1"
        ])
        assert.deepStrictEqual(yield* counts(tenant, "2026-11-21T10:30:00Z", "2026-11-21T11:00:00.001Z"), [
          "2026-11-21T10:00: 1",
          "2026-11-21T11:00: 1"
        ])
        const daily = yield* counts(tenant, "2026-11-20T00:00:00Z", "2026-11-23T00:00:00Z", { interval: "1d" })
        assert.deepStrictEqual(daily, ["2026-11-21T00:00: 5"])
      })
    )

    it.effect("counts in UTC days, for every time zone of the database, with daylight saving time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        yield* entered(tenant, [
          "2026-03-28T23:30:00Z",
          "2026-03-29T00:00:00Z",
          "2026-03-29T01:30:00Z",
          "2026-03-29T23:59:59Z",
          "2026-03-30T00:00:00Z"
        ])
        const days = yield* Effect.andThen(
          sql`select set_config('TimeZone', 'Europe/Berlin', true)`,
          counts(tenant, "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z", { interval: "1d" })
        ).pipe(sql.withTransaction)
        assert.deepStrictEqual(days, ["2026-03-28T00:00: 1", "2026-03-29T00:00: 3", "2026-03-30T00:00: 1"])
      })
    )

    it.effect("reads one tenant, and applies the filters of the query", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const times = ["2026-11-21T10:00:00Z", "2026-11-21T10:00:01Z"]
        const first = yield* entered(tenant, times)
        const sibling = yield* entered(tenant, times.slice(1), { experienceId: first.experienceId })
        yield* entered(tenant, times)
        const day = (where: Where = {}, as: Tenant = tenant) =>
          counts(as, "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", { interval: "1d", where })
        const found = (count: number) => [`2026-11-21T00:00: ${count}`]
        assert.deepStrictEqual(yield* day(), found(5))
        assert.deepStrictEqual(yield* day({ distributionId: first.id }), found(2))
        assert.deepStrictEqual(yield* day({ sequenceId: sibling.sequenceId }), found(1))
        assert.deepStrictEqual(yield* day({ experienceId: first.experienceId }), found(3))
        assert.deepStrictEqual(yield* day({ distributionType: "queue", distributionId: null }), found(5))
        assert.deepStrictEqual(yield* day({ distributionType: "draw" }), [])
        assert.deepStrictEqual(yield* day({ distributionId: first.id, sequenceId: sibling.sequenceId }), [])
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          assert.deepStrictEqual(yield* day({}, stranger), [])
          assert.deepStrictEqual(yield* day({ distributionId: first.id }, stranger), [])
        }
      })
    )

    it.effect("adds up orders exactly, at the time of the requested status", () =>
      Effect.gen(function* () {
        const analytics = yield* Analytics
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const { id: distributionId } = yield* aQueue(tenant)
        const placed = Effect.fnUntraced(function* (total: string, status: OrderStatus, named: object = {}) {
          const { origin } = yield* orders.originOf(tenant, { consumerId, ...named })
          const settings = { status, currencyCode: "EUR", items: [], total, placedAt: 1_000 }
          return yield* orders.create(tenant, "x", origin, settings)
        })
        yield* placed("0.1", "CREATED")
        yield* placed("0.2", "PAID", { distributionId })
        yield* placed("1000000.00000001", "FULFILLED")
        yield* placed("5", "CANCELLED")
        const found = (type: string, where: Where = {}) =>
          Effect.map(
            analytics.tallies(tenant, {
              wanted: [{ kind: "order", type, field: "total" }],
              range: { from: Date.now() - 60_000, to: Date.now() + 60_000 },
              interval: "1d",
              where
            }),
            (tallies) => tallies.map(({ count, sum, average }) => [count, sum, average])
          )
        const paid = [[1, 0.2, 0.2]]
        // In floating point the sum of all four is 1000005.3000000101.
        assert.deepStrictEqual(yield* found("created"), [[4, 1_000_005.300_000_01, 250_001.325_000_002_5]])
        assert.deepStrictEqual(yield* found("paid"), paid)
        assert.deepStrictEqual(yield* found("fulfilled"), [[1, 1_000_000.000_000_01, 1_000_000.000_000_01]])
        assert.deepStrictEqual(yield* found("cancelled"), [[1, 5, 5]])
        assert.deepStrictEqual(yield* found("created", { distributionId }), paid)
        assert.deepStrictEqual(yield* found("created", { distributionType: "queue" }), paid)
      })
    )

    it.effect("counts an entry without a loyalty score as one with score 0", () =>
      Effect.gen(function* () {
        const analytics = yield* Analytics
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id } = yield* entered(tenant, ["2026-11-21T10:00:00Z", "2026-11-21T10:00:01Z"])
        yield* sql`update journal set data = '{"loyaltyScore": 0.5}' where mechanism_id = ${id} and sequence = 2`
        const range = { from: at("2026-11-21T00:00:00Z"), to: at("2026-11-22T00:00:00Z") }
        const wanted = [{ ...entries, field: "loyaltyScore" }]
        const [tally] = yield* analytics.tallies(tenant, { wanted, range, interval: "1d", where: {} })
        assert.deepInclude(tally, { count: 2, sum: 0.5, average: 0.25 })
      })
    )

    it.effect("cancels a query that takes too long", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const tenant = yield* aTenant()
        const locked = yield* Deferred.make<void>()
        const done = yield* Deferred.make<void>()
        const holder = yield* sql`lock table journal in access exclusive mode`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(done)),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* Deferred.await(locked)
        const refused = yield* counts(tenant, "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z").pipe(
          Effect.provide(Analytics.layerWith({ queryMillisMax: 200 })),
          Effect.flip
        )
        assert.deepInclude(refused, { _tag: "QueryTooLong", seconds: 0.2 })
        yield* Deferred.succeed(done, undefined)
        yield* Fiber.join(holder)
        assert.deepStrictEqual(yield* counts(tenant, "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"), [])
      })
    )

    it.effect("can find events by time without an index entry for each", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const indexes = yield* sql<{ readonly kind: string }>`
          select a.amname as kind from pg_index i
          join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
          where i.indrelid = 'journal'::regclass and i.indpred is null order by 1`
        assert.deepStrictEqual(
          indexes.map(({ kind }) => kind),
          ["brin", "btree"]
        )
      })
    )
  })
})
