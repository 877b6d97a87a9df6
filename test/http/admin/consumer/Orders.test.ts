import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, anExperience, aSequence, issuesOf, layer as adminLayer, type Organization } from "../adminFixture.ts"
import { aGrant, anOrder, consumerOf, ordersOf } from "./orderFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("Orders on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a consumer alone, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const consumerId = yield* consumerOf(brand)
        const { status, body } = yield* call("POST", "/orders", { consumerId })
        assert.strictEqual(status, 201)
        const { id, placedAt, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          consumerId,
          experienceId: null,
          sequenceId: null,
          distributionId: null,
          distributionType: null,
          externalId: null,
          number: null,
          status: "CREATED",
          currencyCode: "USD",
          total: "0",
          items: [],
          metadata: null,
          paidAt: null,
          fulfilledAt: null,
          cancelledAt: null,
          grantLapsed: false,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.match(placedAt, /Z$/)
        assert.deepStrictEqual((yield* call("GET", `/orders/${id}`)).body, body)
      })
    )

    it.effect("accept every field, and compute the exact sum of their items if no total is sent", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience({ currencyCode: "EUR" })
        const sequence = yield* aSequence({ experienceId })
        const items = [
          { productId: unknown, quantity: 3, unitPrice: "0.10" },
          { productVariantId: unknown, quantity: 1, unitPrice: "0.00000001" }
        ]
        const said = {
          externalId: "shop-77",
          number: "#1001",
          status: "PAID",
          metadata: { gift: true },
          placedAt: "2026-11-21T19:00:00+01:00"
        }
        const order = yield* anOrder({ ...said, items, sequenceId: sequence.id })
        assert.deepInclude(order, {
          ...said,
          placedAt: "2026-11-21T18:00:00.000Z",
          experienceId,
          sequenceId: sequence.id,
          currencyCode: "EUR",
          total: "0.30000001",
          paidAt: order.createdAt,
          items: [
            { productId: unknown, productVariantId: null, quantity: 3, unitPrice: "0.10" },
            { productId: null, productVariantId: unknown, quantity: 1, unitPrice: "0.00000001" }
          ]
        })
        const discounted = yield* anOrder({ items, total: "0.25", currencyCode: "CHF", experienceId })
        assert.deepInclude(discounted, { total: "0.25", currencyCode: "CHF", experienceId, sequenceId: null })
        const kept = yield* call("PUT", `/orders/${discounted.id}`, { items: [] })
        assert.strictEqual(kept.body.total, "0.25")
        const summed = yield* call("PUT", `/orders/${discounted.id}`, { items, total: null })
        assert.strictEqual(summed.body.total, "0.30000001")
        const round = [{ quantity: 2, unitPrice: "19.90" }]
        const written = yield* call("PUT", `/orders/${discounted.id}`, { items: round, total: null })
        assert.strictEqual(written.body.total, "39.80")
        const reduced = yield* call("PUT", `/orders/${discounted.id}`, { total: "35.00" })
        assert.deepInclude(reduced.body, { total: "35.00", currencyCode: "CHF" })
        assert.strictEqual((yield* call("GET", `/orders/${discounted.id}`)).text, reduced.text)
        const followed = yield* call("PUT", `/orders/${order.id}`, { items: null, number: null, metadata: null })
        assert.deepInclude(followed.body, { items: [], total: "0", number: null, metadata: null, status: "PAID" })
      })
    )

    it.effect("have a unique external id, and do not complete a grant if another order has that id", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const { consumerId, distributionId, status } = yield* aGrant
        yield* anOrder({ externalId: "only-one" })
        const taken = yield* call("POST", "/orders", { consumerId, distributionId, externalId: "only-one" })
        assert.deepStrictEqual([taken.status, taken.body.code], [409, "EXTERNAL_ID_TAKEN"])
        assert.strictEqual(yield* status, "GRANTED")
        const other = yield* anOrder({ externalId: "another-one" })
        const moved = yield* call("PUT", `/orders/${other.id}`, { externalId: "only-one" })
        assert.deepStrictEqual([moved.status, moved.body.code], [409, "EXTERNAL_ID_TAKEN"])
        const same = yield* call("PUT", `/orders/${other.id}`, { externalId: "another-one" })
        assert.strictEqual(same.status, 200)
        yield* call("PUT", `/orders/${other.id}`, { externalId: null })
        yield* anOrder({ externalId: "another-one" })
        yield* anOrder({ externalId: "only-one" }, stranger)
      })
    )

    it.effect("move forward only, and can be cancelled until they are fulfilled", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const moved = (id: string, status: string) =>
          Effect.map(call("PUT", `/orders/${id}`, { status }), (answer) =>
            answer.status === 200 ? answer.body.status : [answer.status, answer.body.code]
          )
        const refused = [409, "ORDER_STATUS"]
        const paid = yield* anOrder()
        assert.strictEqual(yield* moved(paid.id, "PAID"), "PAID")
        assert.deepStrictEqual(yield* moved(paid.id, "CREATED"), refused)
        assert.strictEqual(yield* moved(paid.id, "PAID"), "PAID")
        assert.strictEqual(yield* moved(paid.id, "FULFILLED"), "FULFILLED")
        for (const status of ["CREATED", "PAID", "CANCELLED"]) {
          assert.deepStrictEqual(yield* moved(paid.id, status), refused, status)
        }
        const skipping = yield* anOrder()
        assert.strictEqual(yield* moved(skipping.id, "FULFILLED"), "FULFILLED")
        const { paidAt, fulfilledAt } = (yield* call("GET", `/orders/${skipping.id}`)).body
        assert.isNull(paidAt)
        assert.isString(fulfilledAt)
        const cancelled = yield* anOrder({ status: "PAID" })
        assert.strictEqual(yield* moved(cancelled.id, "CANCELLED"), "CANCELLED")
        for (const status of ["CREATED", "PAID", "FULFILLED"]) {
          assert.deepStrictEqual(yield* moved(cancelled.id, status), refused, status)
        }
      })
    )

    it.effect("refuse malformed fields, name each, and change nothing", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const consumerId = yield* consumerOf(brand)
        const { id } = yield* anOrder({ consumerId })
        const before = (yield* call("GET", `/orders/${id}`)).text
        const item = { quantity: 1, unitPrice: "1" }
        const most = { quantity: 1_000_000, unitPrice: "999999999999" }
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ status: "SHIPPED" }, ["status: picklist"]],
          [{ externalId: "" }, ["externalId: min_length"]],
          [{ externalId: "x".repeat(201) }, ["externalId: max_length"]],
          [{ externalId: "a\u0000b" }, ["externalId: string"]],
          [{ number: 1001 }, ["number: string"]],
          [{ number: "x".repeat(201) }, ["number: max_length"]],
          [{ currencyCode: "euro" }, ["currencyCode: picklist"]],
          [{ total: 10 }, ["total: amount"]],
          [{ total: "-1" }, ["total: amount"]],
          [{ total: "10.005", currencyCode: "EUR" }, ["total: amount"]],
          [{ total: "10.5", currencyCode: "JPY" }, ["total: amount"]],
          [{ total: "0.1", currencyCode: "CLP" }, ["total: amount"]],
          [{ total: "1.0005", currencyCode: "KWD" }, ["total: amount"]],
          [{ total: "1.001", currencyCode: "COP" }, ["total: amount"]],
          [{ placedAt: "yesterday" }, ["placedAt: date_time"]],
          [{ metadata: [] }, ["metadata: object"]],
          [{ items: [{ ...item, quantity: 0 }] }, ["items.0.quantity: min_value"]],
          [{ items: [{ ...item, quantity: 1_000_001 }] }, ["items.0.quantity: max_value"]],
          [{ items: [item, { ...item, quantity: 1.5 }] }, ["items.1.quantity: integer"]],
          [{ items: [{ quantity: 1 }] }, ["items.0.unitPrice: amount"]],
          [
            { items: [{ ...item, productId: "x", unitPrice: "1,5" }] },
            ["items.0.productId: uuid", "items.0.unitPrice: amount"]
          ],
          [{ items: Array.from({ length: 201 }, () => item) }, ["items: max_length"]],
          [{ items: [most] }, ["items: max_value"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const shown = JSON.stringify(mistake).slice(0, 100)
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/orders", { consumerId, ...mistake })), expected, shown)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/orders/${id}`, mistake)), expected, shown)
        }
        assert.strictEqual((yield* call("GET", `/orders/${id}`)).text, before)
        assert.lengthOf(yield* ordersOf(consumerId), 1)
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/orders", { sequenceId: "x" })), [
          "consumerId: string",
          "sequenceId: uuid"
        ])
      })
    )

    it.effect("name existing records that belong together; each wrong reference is an issue with its path", () =>
      Effect.gen(function* () {
        const { call, brand, stranger, rehearsal } = yield* Admin
        const { consumerId, distributionId, experienceId } = yield* aGrant
        const other = yield* aSequence()
        const nowhere = { consumerId: unknown, experienceId: unknown, sequenceId: unknown, distributionId: unknown }
        const all = yield* call("POST", "/orders", {
          ...nowhere,
          items: [{ quantity: 1_000_000, unitPrice: "999999999999" }]
        })
        assert.deepStrictEqual(issuesOf(all), [
          "consumerId: picklist",
          "distributionId: picklist",
          "experienceId: picklist",
          "items: max_value",
          "sequenceId: picklist"
        ])
        const issues = (body: object, as?: Organization) =>
          Effect.map(call("POST", "/orders", { consumerId, ...body }, as), issuesOf)
        assert.deepStrictEqual(yield* issues({ distributionId, sequenceId: other.id }), ["sequenceId: picklist"])
        assert.deepStrictEqual(yield* issues({ sequenceId: other.id, experienceId }), ["experienceId: picklist"])
        for (const as of [stranger, rehearsal]) {
          assert.deepStrictEqual(yield* issues({}, as), ["consumerId: picklist"])
          assert.deepStrictEqual(yield* issues({ consumerId: yield* consumerOf(as), distributionId }, as), [
            "distributionId: picklist"
          ])
          const { id } = yield* anOrder({}, as)
          for (const [method, body] of [["GET"], ["PUT", { status: "PAID" }]] as const) {
            const answer = yield* call(method, `/orders/${id}`, body, brand)
            assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Order not found" }])
          }
        }
        yield* call("DELETE", `/queues/${distributionId}`)
        assert.deepStrictEqual(yield* issues({ distributionId }), ["distributionId: picklist"])
      })
    )

    it.effect("are paged, sorted, filtered and searched", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const consumerId = yield* consumerOf(as)
        for (const [index, total] of ["9", "10", "0.5"].entries()) {
          yield* anOrder({ consumerId, total, number: `R-${index}`, status: index === 0 ? "PAID" : "CREATED" }, as)
        }
        yield* anOrder({ externalId: "other" }, as)
        const numbers = (query: string) =>
          Effect.map(call("GET", `/orders?${query}`, undefined, as), ({ body }) =>
            body.data.map(({ number }: { readonly number: string | null }) => number)
          )
        assert.deepStrictEqual(yield* numbers(`consumerId=${consumerId}&sortBy=total&sortDir=desc`), [
          "R-1",
          "R-0",
          "R-2"
        ])
        assert.deepStrictEqual(yield* numbers("first=2"), ["R-0", "R-1"])
        assert.deepStrictEqual(yield* numbers("status=PAID"), ["R-0"])
        assert.deepStrictEqual(yield* numbers("search=r-2"), ["R-2"])
        assert.deepStrictEqual(yield* numbers("search=other"), [null])
        assert.deepStrictEqual(yield* numbers(`experienceId=${unknown}`), [])
        assert.deepStrictEqual(yield* numbers(`distributionId=${unknown}`), [])
        for (const [query, issue] of [
          ["sortBy=number", "sortBy: picklist"],
          ["status=paid", "status: picklist"],
          ["consumerId=me", "consumerId: uuid"],
          ["search=x", "search: min_length"],
          ["first=101", "first: max_value"]
        ] as const) {
          assert.deepStrictEqual(issuesOf(yield* call("GET", `/orders?${query}`, undefined, as)), [issue])
        }
      })
    )
  })
})
