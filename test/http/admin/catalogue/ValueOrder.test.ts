import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

interface Value {
  readonly id: string
  readonly value: string
  readonly sortOrder: number
}

interface Option {
  readonly id: string
  readonly values: ReadonlyArray<Value>
}

/** Creates an option with values of these texts. Values in lower case are not centrally managed. */
const anOption = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const { call } = yield* Admin
  const values = texts.map((value) => ({ value, isCentrallyManaged: value !== value.toLowerCase() }))
  return (yield* call("POST", "/variant-options", { name: "Size", values })).body as Option
})

const reorder = Effect.fnUntraced(function* ({ id }: Option, valueOrder: unknown) {
  const { call } = yield* Admin
  return yield* call("PUT", `/variant-options/${id}/values/reorder`, { valueOrder })
})

const valuesOf = Effect.fnUntraced(function* ({ id }: Option) {
  const { call } = yield* Admin
  return (yield* call("GET", `/variant-options/${id}`)).body.values as ReadonlyArray<Value>
})

const texts = (values: ReadonlyArray<Value>) => values.map(({ value }) => value)
const ids = (values: ReadonlyArray<Value>) => values.map(({ id }) => id)
const places = (values: ReadonlyArray<Value>) => values.map(({ sortOrder }) => sortOrder)
const fromZero = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Returns the items in an order that the seed determines. */
const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> =>
  items
    .map((item, index) => ({ item, key: hash("sha256", `${seed} ${index}`) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item)

describe("The order of a variant option's values", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("is set by naming the centrally managed values; the others follow in their previous order", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const option = yield* anOption(["S", "custom", "M", "L", "another"])
        const [s, , m, l] = ids(option.values)
        const answer = yield* reorder(option, [l, s, m])
        assert.strictEqual(answer.status, 200)
        assert.isArray(answer.body)
        assert.deepStrictEqual(texts(answer.body), ["L", "S", "M", "custom", "another"])
        assert.deepStrictEqual(places(answer.body), [0, 1, 2, 3, 4])
        assert.deepStrictEqual(yield* valuesOf(option), answer.body)
        const unmoved = ["createdAt", "createdBy", "optionId", "organizationId", "value", "id"] as const
        for (const value of answer.body) {
          const before: { readonly [field: string]: unknown } = { ...option.values.find(({ id }) => id === value.id) }
          for (const field of unmoved) assert.strictEqual(value[field], before[field])
        }

        const again = yield* reorder(option, [l!.toUpperCase(), s, m])
        assert.deepStrictEqual(again.body, answer.body)

        yield* call("DELETE", `/variant-options/${option.id}/values/${s}`)
        yield* call("POST", `/variant-options/${option.id}/values`, { value: "XL" })
        const [, , , , xl] = ids(yield* valuesOf(option))
        const whole = yield* reorder(option, [xl, m, l])
        assert.deepStrictEqual(texts(whole.body), ["XL", "M", "L", "custom", "another"])
        assert.deepStrictEqual(places(whole.body), [0, 1, 2, 3, 4])
      })
    )

    it.effect("can be empty where no value is centrally managed", () =>
      Effect.gen(function* () {
        const none = yield* anOption([])
        assert.deepStrictEqual([(yield* reorder(none, [])).status, (yield* reorder(none, [])).body], [200, []])
        const own = yield* anOption(["b", "a"])
        assert.deepStrictEqual(texts((yield* reorder(own, [])).body), ["b", "a"])
      })
    )

    it.effect("is refused with an issue for each invalid identifier, and does not change", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const option = yield* anOption(["S", "M", "L", "own", "GONE"])
        const other = yield* anOption(["S"])
        const [s, m, l, own, gone] = ids(option.values) as [string, string, string, string, string]
        yield* call("DELETE", `/variant-options/${option.id}/values/${gone}`)
        const before = yield* valuesOf(option)
        const foreign = other.values[0]!.id
        const mistakes: ReadonlyArray<readonly [ReadonlyArray<string>, ReadonlyArray<readonly [string, string]>]> = [
          [
            [],
            [
              ["valueOrder", s],
              ["valueOrder", m],
              ["valueOrder", l]
            ]
          ],
          [[s, m], [["valueOrder", l]]],
          [[s, m, l, s], [["valueOrder.3", s]]],
          [[s, s, s, m, l], [["valueOrder.1", s]]],
          [[s, m, l, unknown], [["valueOrder.3", unknown]]],
          [[s, m, l, unknown, unknown], [["valueOrder.3", unknown]]],
          [[s, m, l, foreign], [["valueOrder.3", foreign]]],
          [[gone, s, m, l], [["valueOrder.0", gone]]],
          [[s, own, m, l], [["valueOrder.1", own]]],
          [
            [unknown, s, s],
            [
              ["valueOrder", l],
              ["valueOrder", m],
              ["valueOrder.0", unknown],
              ["valueOrder.2", s]
            ]
          ]
        ]
        for (const [order, expected] of mistakes) {
          const { status, body } = yield* reorder(option, order)
          assert.deepStrictEqual([status, body.error], [400, "validation_error"])
          const found = body.issues.map((issue: any) => {
            const path = issue.path.map(({ key }: { readonly key: string }) => key).join(".")
            const named = expected.find(([at, id]) => at === path && issue.message.includes(id))
            assert.isDefined(named, `${path}: ${issue.message}`)
            return named
          })
          assert.sameDeepMembers(found, [...expected])
          assert.lengthOf(found, expected.length)
          assert.deepStrictEqual(yield* valuesOf(option), before)
        }
      })
    )

    it.effect("is refused if it is not a list of identifiers, or is longer than any option", () =>
      Effect.gen(function* () {
        const option = yield* anOption(["S"])
        const mistakes: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
          [undefined, ["valueOrder: array"]],
          [null, ["valueOrder: array"]],
          ["x", ["valueOrder: array"]],
          [
            ["", option.values[0]!.id, 5],
            ["valueOrder.0: uuid", "valueOrder.2: string"]
          ],
          [Array.from({ length: 1_001 }, () => unknown), ["valueOrder: max_length"]]
        ]
        for (const [order, expected] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* reorder(option, order)), expected)
        }
        const large = yield* anOption(Array.from({ length: 120 }, (_, n) => `N${n}`))
        assert.lengthOf((yield* reorder(large, [])).body.issues, 100)
        const nobodys = yield* reorder({ id: unknown, values: [] }, [unknown])
        assert.deepStrictEqual([nobodys.status, nobodys.body], [404, { error: "Variant option not found" }])
      })
    )

    it.effect("is exactly one of the orders that are set at the same time", () =>
      Effect.gen(function* () {
        const option = yield* anOption([..."ABCDEFGHIJKL", "own"])
        const managed = ids(option.values).slice(0, -1)
        const orders = fromZero(50).map((seed) => shuffled(managed, seed))
        assert.isAbove(new Set(orders.map(String)).size, 40)
        const answers = yield* Effect.forEach(orders, (order) => reorder(option, order), { concurrency: "unbounded" })
        for (const [index, { status, body }] of answers.entries()) {
          assert.strictEqual(status, 200)
          assert.deepStrictEqual(ids(body).slice(0, -1), orders[index])
          assert.deepStrictEqual(places(body), fromZero(13))
        }
        const values = yield* valuesOf(option)
        assert.deepStrictEqual(places(values), fromZero(13))
        assert.include(orders.map(String), String(ids(values).slice(0, -1)))
        assert.strictEqual(values.at(-1)!.value, "own")
      })
    )

    it.effect("stays complete during concurrent changes: an order that misses a change is refused", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const option = yield* anOption([..."ABCDEFGHIJ"])
        const path = `/variant-options/${option.id}/values`
        const leaving = ids(option.values).slice(0, 5)

        const adding = Effect.forEach(fromZero(5), (n) => call("POST", path, { value: `NEW ${n}` }))
        const archiving = Effect.forEach(leaving, (id) => call("DELETE", `${path}/${id}`))
        let isOver = false
        const changing = Effect.all([adding, archiving], { concurrency: "unbounded" }).pipe(
          Effect.tap(() => Effect.sync(() => (isOver = true)))
        )
        /** Sets one order after the other. Sets the last one after all other changes have ended. */
        const reordering = Effect.fnUntraced(function* (seed: number) {
          for (let round = 0; ; round++) {
            const isLast = isOver
            const order = shuffled(ids(yield* valuesOf(option)), seed * 1_000 + round)
            const { status, body } = yield* reorder(option, order)
            if (status === 200) {
              assert.deepStrictEqual(ids(body), order)
              assert.deepStrictEqual(places(body), fromZero(order.length))
            } else {
              assert.deepStrictEqual([status, body.error], [400, "validation_error"])
            }
            if (isLast) return status
          }
        })
        const [[added, archived], statuses] = yield* Effect.all(
          [changing, Effect.forEach(fromZero(6), reordering, { concurrency: "unbounded" })],
          { concurrency: "unbounded" }
        )
        for (const { status } of added) assert.strictEqual(status, 201)
        for (const { status } of archived) assert.strictEqual(status, 200)
        for (const status of statuses) assert.strictEqual(status, 200)

        const values = yield* valuesOf(option)
        assert.sameMembers(ids(values), [...ids(option.values).slice(5), ...added.map(({ body }) => body.id)])
        assert.lengthOf(new Set(places(values)), values.length)
        const last = yield* reorder(option, ids(values).toReversed())
        assert.deepStrictEqual(ids(last.body), ids(values).toReversed())
      })
    )
  })
})
