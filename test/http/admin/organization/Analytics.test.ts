import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { sources } from "../../../../src/domain/organization/Analytics.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import {
  Admin,
  type Answer,
  aQueue,
  aSequence,
  enter,
  issuesOf,
  layer as adminLayer,
  type Organization
} from "../adminFixture.ts"

const measure = (event: string, more: object = {}) => ({ name: event, event, op: "count", unit: "events", ...more })

const query = Effect.fnUntraced(function* (body: object, as?: Organization) {
  const { call } = yield* Admin
  const whole = { interval: "1d", timeRange: "1d", measures: [measure("queue_entered")], ...body }
  return yield* call("POST", "/analytics/query", whole, as)
})

/** Returns the sum of each series over all buckets. */
const totals = ({ body }: Answer): { readonly [name: string]: number } => {
  const sums: { [name: string]: number } = {}
  for (const { series } of body.data) {
    for (const [name, value] of Object.entries<number>(series)) sums[name] = (sums[name] ?? 0) + value
  }
  return sums
}

describe("Analytics on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    for (const interval of ["1h", "6h", "12h", "1d"]) {
      it.effect(`answers 100 queries at once by ${interval}`, () =>
        Effect.gen(function* () {
          const organization = yield* (yield* Admin).organization()
          const answers = yield* Effect.replicateEffect(query({ interval, timeRange: "2d" }, organization), 100, {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        })
      )
    }

    it.effect("returns every bucket of the range, with zeros, and repeats the query", () =>
      Effect.gen(function* () {
        const answer = yield* query({
          interval: "6h",
          timeRange: "2026-03-28T23:00:00Z/2026-03-29T12:00:00+02:00",
          measures: [
            measure("queue_entered", { name: "Einträge", unit: "Personen" }),
            measure("order_paid", { op: "avg", field: "total" })
          ]
        })
        assert.strictEqual(answer.status, 200)
        const series = { Einträge: 0, order_paid: 0 }
        assert.deepStrictEqual(answer.body, {
          data: [
            { time_bucket: "2026-03-28T18:00:00.000Z", series },
            { time_bucket: "2026-03-29T00:00:00.000Z", series },
            { time_bucket: "2026-03-29T06:00:00.000Z", series }
          ],
          meta: {
            interval: "6h",
            from: "2026-03-28T23:00:00.000Z",
            to: "2026-03-29T10:00:00.000Z",
            timeZone: "UTC",
            buckets: 3,
            measures: [
              { name: "Einträge", event: "queue_entered", op: "count", unit: "Personen", field: null },
              { name: "order_paid", event: "order_paid", op: "avg", unit: "events", field: "total" }
            ]
          }
        })
      })
    )

    it.effect("counts the recorded events of real mechanisms, of every kind at once", () =>
      Effect.gen(function* () {
        const { organization, call } = yield* Admin
        const engine = yield* Engine
        const as = yield* organization()
        const { id, experienceId } = yield* aQueue({}, as)
        const queue = { kind: "queue", id, tenant: as.tenant } as const
        const [first, second] = yield* enter(id, 5, as)
        yield* engine.send(queue, { _tag: "Admit", consumerId: first!, by: "admin" })
        yield* engine.send(queue, { _tag: "Complete", consumerId: first!, by: "admin" })
        yield* engine.send(queue, { _tag: "Leave", consumerId: second! })
        yield* call("POST", `/queues/${id}/end`, undefined, as)
        const events = ["configured", "entered", "granted", "completed", "left", "ended", "denied", "torn_down"]
        const measures = events.map((event) => measure(`queue_${event}`))
        const expected = [1, 5, 1, 1, 1, 1, 3, 1]
        for (const where of [
          undefined,
          null,
          {},
          { distributionId: id },
          { experienceId, distributionType: "queue" }
        ]) {
          const found = totals(yield* query({ measures, where }, as))
          assert.deepStrictEqual(Object.values(found), expected, JSON.stringify(where))
        }
        for (const where of [{ distributionId: randomUUID() }, { distributionType: "draw" }]) {
          assert.deepStrictEqual(
            Object.values(totals(yield* query({ measures, where }, as))),
            expected.map(() => 0)
          )
        }
      })
    )

    it.effect("adds up bids and orders exactly, and separates tenants", () =>
      Effect.gen(function* () {
        const { organization, call, brand } = yield* Admin
        const engine = yield* Engine
        const as = yield* organization()
        const { id: sequenceId } = yield* aSequence({}, as)
        const settings = { sequenceId, name: "Bids", startPrice: "0.1", settleAt: new Date(Date.now() + 3_600_000) }
        const { id } = (yield* call("POST", "/auctions", settings, as)).body
        for (const amount of ["0.1", "0.2", "0.4"]) {
          yield* engine.send(
            { kind: "auction", id, tenant: as.tenant },
            { _tag: "Bid", consumerId: randomUUID(), amount }
          )
        }
        const consumerId = yield* Effect.orDie(aConsumer(as.tenant))
        for (const [total, status] of [
          ["0.1", "PAID"],
          ["0.2", "CREATED"]
        ]) {
          const order = { consumerId, sequenceId, total, status }
          assert.strictEqual((yield* call("POST", "/orders", order, as)).status, 201)
        }
        const measures = [
          measure("bid_placed"),
          measure("bid_placed", { name: "offered", op: "sum", field: "amount", unit: "USD" }),
          measure("bid_placed", { name: "typical", op: "avg", field: "amount", unit: "USD" }),
          measure("order_created", { op: "sum", field: "total", unit: "USD" }),
          measure("order_paid", { op: "sum", field: "total", unit: "USD" }),
          measure("order_fulfilled"),
          measure("order_cancelled")
        ]
        const found = yield* query({ measures, where: { sequenceId } }, as)
        assert.deepStrictEqual(totals(found), {
          bid_placed: 3,
          offered: 0.7,
          typical: Number("0.2333333333333333333"),
          order_created: 0.3,
          order_paid: 0.1,
          order_fulfilled: 0,
          order_cancelled: 0
        })
        const others = yield* query({ measures, where: { sequenceId } }, brand)
        assert.deepStrictEqual(new Set(Object.values(totals(others))), new Set([0]))
      })
    )

    it.effect("adds up money of one currency alone, and lists the currencies where there are several", () =>
      Effect.gen(function* () {
        const { organization, call } = yield* Admin
        const engine = yield* Engine
        const as = yield* organization()
        const consumerId = yield* Effect.orDie(aConsumer(as.tenant))
        const { id: sequenceId } = yield* aSequence({}, as)
        for (const [currencyCode, amount] of [
          ["EUR", "1.50"],
          ["EUR", "2.25"],
          ["USD", "10"]
        ]) {
          yield* call("POST", "/orders", { consumerId, total: amount, currencyCode, status: "PAID" }, as)
          const settings = { name: "Bids", startPrice: "0.1", settleAt: new Date(Date.now() + 3_600_000), currencyCode }
          const { id } = (yield* call("POST", "/auctions", { ...settings, sequenceId }, as)).body
          const bid = { _tag: "Bid", consumerId: randomUUID(), amount: amount! } as const
          yield* engine.send({ kind: "auction", id, tenant: as.tenant }, bid)
        }
        const counted = [measure("order_paid"), measure("bid_placed")]
        assert.deepStrictEqual(totals(yield* query({ measures: counted }, as)), { order_paid: 3, bid_placed: 3 })
        for (const [event, field] of [
          ["order_paid", "total"],
          ["bid_placed", "amount"]
        ] as const) {
          for (const [op, euros, dollars] of [
            ["sum", 3.75, 10],
            ["avg", 1.875, 10]
          ] as const) {
            const measures = [...counted, measure(event, { name: "money", op, field })]
            const refused = yield* query({ measures }, as)
            assert.deepStrictEqual(issuesOf(refused), ["where.currencyCode: picklist"])
            assert.include(refused.body.issues[0].expected, "EUR, USD")
            const inCurrency = (currencyCode: string) =>
              Effect.map(query({ measures, where: { currencyCode } }, as), totals)
            assert.deepStrictEqual(yield* inCurrency("EUR"), { order_paid: 2, bid_placed: 2, money: euros })
            assert.deepStrictEqual(yield* inCurrency("USD"), { order_paid: 1, bid_placed: 1, money: dollars })
            assert.deepStrictEqual(yield* inCurrency("JPY"), { order_paid: 0, bid_placed: 0, money: 0 })
          }
        }
        const inOne = { measures: [measure("bid_placed", { op: "sum", field: "amount" })], where: { sequenceId } }
        assert.deepStrictEqual(issuesOf(yield* query(inOne, as)), ["where.currencyCode: picklist"])
        const none = { measures: inOne.measures, where: { experienceId: randomUUID() } }
        assert.deepStrictEqual(totals(yield* query(none, as)), { bid_placed: 0 })
        const score = { measures: [measure("queue_entered", { op: "sum", field: "loyaltyScore" })] }
        assert.strictEqual((yield* query(score, as)).status, 200)
      })
    )

    it.effect("refuses malformed parameters, and names each", () =>
      Effect.gen(function* () {
        const one = measure("queue_entered")
        const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...one, name: `m${n}` }))
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ interval: "2h" }, ["interval: picklist"]],
          [{ timeRange: "yesterday" }, ["timeRange: string"]],
          [{ timeRange: 24 }, ["timeRange: string"]],
          [{ timeRange: "0d" }, ["timeRange: min_value"]],
          [{ timeRange: "367d" }, ["timeRange: max_value"]],
          [{ timeRange: "x".repeat(101) }, ["timeRange: max_length"]],
          [{ interval: "1m", timeRange: "2d" }, ["interval: max_value"]],
          [{ measures: [] }, ["measures: min_length"]],
          [{ measures: many(11) }, ["measures: max_length"]],
          [{ measures: [{ ...one, name: "" }] }, ["measures.0.name: min_length"]],
          [{ measures: [{ ...one, name: "__proto__" }] }, ["measures.0.name: string"]],
          [{ measures: [{ ...one, name: "x".repeat(101) }] }, ["measures.0.name: max_length"]],
          [{ measures: [one, one] }, ["measures.1.name: picklist"]],
          [{ measures: [{ ...one, event: "draw_seed_drawn" }] }, ["measures.0.event: picklist"]],
          [{ measures: [{ ...one, op: "max" }] }, ["measures.0.op: picklist"]],
          [{ measures: [{ ...one, op: "sum" }] }, ["measures.0.field: string"]],
          [{ measures: [{ ...one, op: "sum", field: "seed" }] }, ["measures.0.field: picklist"]],
          [{ measures: [{ ...one, field: "x".repeat(51) }] }, ["measures.0.field: max_length"]],
          [{ measures: [{ ...measure("queue_left"), op: "avg", field: "total" }] }, ["measures.0.op: picklist"]],
          [{ measures: [{ name: "x", event: "queue_left", op: "count" }] }, ["measures.0.unit: string"]],
          [{ measures: [{ ...one, unit: "x".repeat(51) }] }, ["measures.0.unit: max_length"]],
          [{ where: { distributionId: "x" } }, ["where.distributionId: uuid"]],
          [{ where: { distributionType: "raffle" } }, ["where.distributionType: picklist"]],
          [{ where: [] }, ["where: object"]],
          [{ where: { currencyCode: "euro" } }, ["where.currencyCode: picklist"]],
          [{ where: { queueId: randomUUID() } }, ["where.queueId: picklist"]],
          [
            { where: { distributionId: "x", event: "queue_left" } },
            ["where.distributionId: uuid", "where.event: picklist"]
          ],
          [{ where: { currency: "EUR" }, interval: "2h" }, ["interval: picklist", "where.currency: picklist"]],
          [{ timeRange: "0h", measures: [one, one] }, ["measures.1.name: picklist", "timeRange: min_value"]]
        ]
        for (const [mistake, expected] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* query(mistake)), expected, JSON.stringify(mistake).slice(0, 100))
        }
        assert.strictEqual((yield* query({ measures: many(10) })).status, 200)
        const wide = yield* query({ interval: "1m", timeRange: "2d" })
        assert.include(wide.body.issues[0].expected, "1500 buckets")
        const { expected } = (yield* query({ where: { queueId: randomUUID() } })).body.issues[0]
        for (const known of ["distributionId", "experienceId", "sequenceId", "distributionType", "currencyCode"]) {
          assert.include(expected, known)
        }
      })
    )

    it.effect("accepts every event it names, and has a rate limit of its own", () =>
      Effect.gen(function* () {
        const { organization } = yield* Admin
        const as = yield* organization()
        const names = [...sources.keys()]
        for (let start = 0; start < names.length; start += 10) {
          const measures = names.slice(start, start + 10).map((name) => measure(name))
          const answer = yield* query({ measures }, as)
          assert.strictEqual(answer.status, 200, answer.text)
          assert.strictEqual(answer.headers.get("x-ratelimit-limit"), "100")
        }
      })
    )
  })
})
