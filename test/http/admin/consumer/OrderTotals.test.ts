/** The totals of a consumer's orders in several currencies. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, layer as adminLayer, type Organization } from "../adminFixture.ts"
import { anOrder, consumerOf } from "./orderFixture.ts"

/** Returns the consumer's order totals as the API shows them. */
const totalsOf = Effect.fnUntraced(function* (consumerId: string, as: Organization) {
  const { call } = yield* Admin
  const { orderCount, totalOrderValue, totalOrderValues } = (yield* call(
    "GET",
    `/consumers/${consumerId}`,
    undefined,
    as
  )).body
  return [orderCount, totalOrderValue, totalOrderValues]
})

/** Returns the consumers sorted by their order total, the highest first. */
const ranked = Effect.fnUntraced(function* (as: Organization) {
  const { call } = yield* Admin
  const { body } = yield* call("GET", "/consumers?sortBy=totalOrderValue&sortDir=desc", undefined, as)
  return body.data.map(({ id }: { readonly id: string }) => id)
})

describe("The order total of a consumer", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("is a sum for each currency, and the single value is the sum in the organization's currency", () =>
      Effect.gen(function* () {
        const { organization, call } = yield* Admin
        const as = yield* organization({ currencyCode: "EUR" })
        const consumerId = yield* consumerOf(as)
        const totals = totalsOf(consumerId, as)
        assert.deepStrictEqual(yield* totals, [0, "0", {}])
        const order = (total: string, currencyCode: string, more: object = {}) =>
          anOrder({ consumerId, total, currencyCode, ...more }, as)
        const change = (id: string, body: object) => call("PUT", `/orders/${id}`, body, as)
        yield* order("5", "USD")
        assert.deepStrictEqual(yield* totals, [1, "0", { USD: "5" }])
        const first = yield* order("19.90", "EUR")
        yield* order("0.1", "EUR")
        yield* order("3000", "JPY", { status: "CANCELLED" })
        assert.deepStrictEqual(yield* totals, [3, "20.00", { EUR: "20.00", USD: "5" }])
        yield* change(first.id, { total: "0.90" })
        assert.deepStrictEqual(yield* totals, [3, "1.00", { EUR: "1.00", USD: "5" }])
        yield* change(first.id, { currencyCode: "CHF" })
        assert.deepStrictEqual(yield* totals, [3, "0.10", { CHF: "0.90", EUR: "0.10", USD: "5" }])
        yield* change(first.id, { status: "CANCELLED" })
        assert.deepStrictEqual(yield* totals, [2, "0.10", { EUR: "0.10", USD: "5" }])
        yield* order("0", "GBP")
        assert.deepStrictEqual(yield* totals, [3, "0.10", { EUR: "0.10", USD: "5" }])
      })
    )

    it.effect("is compared in the organization's currency, in lists and in audience rules", () =>
      Effect.gen(function* () {
        const { organization, call } = yield* Admin
        const as = yield* organization()
        const [dollars, yens, both] = [yield* consumerOf(as), yield* consumerOf(as), yield* consumerOf(as)]
        for (const [consumerId, total, currencyCode] of [
          [dollars, "100", "USD"],
          [yens, "90000", "JPY"],
          [both, "60", "USD"],
          [both, "60", "JPY"]
        ]) {
          yield* anOrder({ consumerId, total, currencyCode }, as)
        }
        assert.deepStrictEqual(yield* ranked(as), [dollars, both, yens])
        const rules = { match: "all", rules: [{ field: "totalOrderValue", op: "gt", value: "60.00" }] }
        const audience = (yield* call("POST", "/audiences", { name: "Big spenders", rules }, as)).body
        const members = Effect.map(call("GET", `/audiences/${audience.id}/members`, undefined, as), ({ body }) =>
          body.data.map(({ consumerId }: { readonly consumerId: string }) => consumerId)
        )
        assert.deepStrictEqual(yield* members, [dollars])
        const changed = yield* call("PUT", "/organizations/me", { currencyCode: "JPY" }, as)
        assert.deepStrictEqual([changed.status, changed.body.currencyCode], [200, "JPY"])
        assert.deepStrictEqual(yield* ranked(as), [yens, both, dollars])
        assert.deepStrictEqual(yield* members, [yens])
        assert.deepStrictEqual(yield* totalsOf(both, as), [2, "60", { JPY: "60", USD: "60" }])
        yield* anOrder({ consumerId: dollars, total: "90001", currencyCode: "JPY" }, as)
        assert.sameMembers(yield* members, [dollars, yens])
        yield* call("PUT", "/organizations/me", { currencyCode: null }, as)
        assert.deepStrictEqual(yield* ranked(as), [dollars, both, yens])
        assert.deepStrictEqual(yield* totalsOf(dollars, as), [2, "100", { JPY: "90001", USD: "100" }])
      })
    )

    it.effect("stays correct when orders arrive while the organization changes its currency", () =>
      Effect.gen(function* () {
        const { organization, call } = yield* Admin
        const as = yield* organization({ currencyCode: "EUR" })
        const consumers = yield* Effect.forEach(Array.from({ length: 10 }), () => consumerOf(as))
        const ordering = Effect.forEach(
          consumers,
          (consumerId) =>
            Effect.andThen(
              anOrder({ consumerId, total: "1.00", currencyCode: "EUR" }, as),
              anOrder({ consumerId, total: "2.00", currencyCode: "USD" }, as)
            ),
          { concurrency: "unbounded" }
        )
        const currencies = ["USD", "EUR", "USD", "EUR", "USD"]
        const changing = Effect.forEach(currencies, (currencyCode) =>
          call("PUT", "/organizations/me", { currencyCode }, as)
        )
        const [, changes] = yield* Effect.all([ordering, changing], { concurrency: "unbounded" })
        for (const { status } of changes) assert.strictEqual(status, 200)
        for (const consumerId of consumers) {
          assert.deepStrictEqual(yield* totalsOf(consumerId, as), [2, "2.00", { EUR: "1.00", USD: "2.00" }])
        }
      })
    )
  })
})
