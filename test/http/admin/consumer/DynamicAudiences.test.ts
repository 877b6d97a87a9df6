import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, anExperience, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const buyers = { match: "all", rules: [{ field: "orderCount", op: "gte", value: 1 }] }

const gold = {
  match: "any",
  rules: [
    { field: "attributes.tier", op: "in", value: ["gold", "platinum"] },
    { field: "email", op: "endsWith", value: "@example.com" }
  ]
}

const rule = (field: string, op: string, value?: unknown) => ({ field, op, value })

describe("Dynamic audiences on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with rules, and list and count the consumers that match", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const consumer = (body: object) =>
          Effect.map(call("POST", "/consumers", body, as), ({ body }) => body.id as string)
        const [ann, bob] = [
          yield* consumer({ email: "ann@example.com", fullName: "Ann" }),
          yield* consumer({ email: "bob@example.org", attributes: { tier: "gold" } })
        ]
        yield* consumer({ attributes: { tier: "silver" } })
        const created = yield* call("POST", "/audiences", { name: "Gold", type: "DYNAMIC", rules: gold }, as)
        assert.strictEqual(created.status, 201, created.text)
        assert.deepInclude(created.body, { name: "Gold", type: "DYNAMIC", rules: gold, memberCount: 2 })
        const path = `/audiences/${created.body.id}`
        assert.deepStrictEqual((yield* call("GET", path, undefined, as)).body, created.body)
        assert.deepStrictEqual((yield* call("GET", "/audiences", undefined, as)).body.data, [created.body])
        const members = (query = "") => call("GET", `${path}/members?${query}`, undefined, as)
        const item = { phone: null, addedAt: null }
        assert.deepStrictEqual((yield* members()).body.data, [
          { consumerId: ann, email: "ann@example.com", fullName: "Ann", ...item },
          { consumerId: bob, email: "bob@example.org", fullName: null, ...item }
        ])
        const first = yield* members("first=1")
        const rest = yield* members(`after=${first.body.pageInfo.endCursor}`)
        assert.deepStrictEqual([rest.body.data.length, rest.body.data[0].consumerId], [1, bob])
        assert.deepStrictEqual((yield* members("search=bob")).body.data.length, 1)
        assert.deepStrictEqual(issuesOf(yield* members("sortBy=consumerId")), ["sortBy: string"])

        yield* call("PUT", `/consumers/${ann}`, { email: null, attributes: { tier: "platinum" } }, as)
        assert.deepStrictEqual((yield* members()).body.data.length, 2)
        yield* call("DELETE", `/consumers/${ann}`, undefined, as)
        assert.deepStrictEqual((yield* members()).body.data.length, 1)
        const changed = yield* call("PUT", path, { rules: buyers }, as)
        assert.deepInclude(changed.body, { name: "Gold", rules: buyers, memberCount: 0 })
        const inferred = yield* call("POST", "/audiences", { name: "Buyers", rules: buyers }, as)
        assert.strictEqual(inferred.body.type, "DYNAMIC")
      })
    )

    it.effect("take no members, and keep their type", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const consumerIds = [(yield* call("POST", "/consumers", {})).body.id]
        const { id } = (yield* call("POST", "/audiences", { name: "Gold", rules: gold })).body
        const other = (yield* call("POST", "/audiences", { name: "Friends" })).body
        const refused: ReadonlyArray<readonly [string, string, object, string]> = [
          ["POST", `/audiences/${id}/members`, { consumerIds }, "AUDIENCE_DYNAMIC"],
          ["DELETE", `/audiences/${id}/members`, { consumerIds }, "AUDIENCE_DYNAMIC"],
          ["PUT", `/audiences/${id}`, { type: "STATIC" }, "AUDIENCE_TYPE_FIXED"],
          ["PUT", `/audiences/${id}`, { rules: null }, "AUDIENCE_TYPE_FIXED"],
          ["PUT", `/audiences/${other.id}`, { type: "DYNAMIC" }, "AUDIENCE_TYPE_FIXED"],
          ["PUT", `/audiences/${other.id}`, { rules: gold }, "AUDIENCE_TYPE_FIXED"]
        ]
        for (const [method, path, body, code] of refused) {
          const answer = yield* call(method, path, body)
          assert.deepStrictEqual([answer.status, answer.body.code], [409, code], `${method} ${JSON.stringify(body)}`)
        }
        assert.deepStrictEqual((yield* call("GET", `/audiences/${other.id}`)).body, other)
        assert.strictEqual((yield* call("PUT", `/audiences/${id}`, { type: "DYNAMIC", name: "Golden" })).status, 200)
        const { id: experienceId } = yield* anExperience()
        const sequence = (yield* call("POST", "/sequences", { experienceId, name: "VIP", audienceId: id })).body
        const kept = yield* call("DELETE", `/audiences/${id}`)
        assert.deepStrictEqual([kept.status, kept.body.code], [409, "AUDIENCE_IN_USE"])
        yield* call("PUT", `/sequences/${sequence.id}`, { audienceId: null })
        assert.strictEqual((yield* call("DELETE", `/audiences/${id}`)).body.archived, true)
      })
    )

    it.effect("refuse invalid rules, naming every one, and refuse the dynamic type without rules", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = (yield* call("POST", "/audiences", { name: "Gold", rules: gold })).body
        const rules = [
          rule("colour", "eq", "red"),
          rule("email", "gt", "a"),
          rule("orderCount", "eq", "3"),
          rule("externalId", "in", ["a", 1]),
          rule("phone", "exists", true)
        ]
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [
            { rules: { match: "all", rules } },
            [
              "rules.rules.0.field: picklist",
              "rules.rules.1.op: picklist",
              "rules.rules.2.value: integer",
              "rules.rules.3.value.1: string"
            ]
          ],
          [{ rules: { match: "some", rules: [] } }, ["rules.match: picklist", "rules.rules: min_length"]],
          [
            { rules: { match: "all", rules: [rule("email", "like", "%"), rule("email", "eq")] } },
            ["rules.rules.0.op: picklist", "rules.rules.1.value: string"]
          ],
          [{ rules: [] }, ["rules: object"]],
          [{ type: "STATIC", rules: gold }, ["rules: object"]]
        ]
        for (const [mistake, expected] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/audiences", { name: "x", ...mistake })), expected)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/audiences/${id}`, mistake)), expected)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/audiences", { name: "x", type: "DYNAMIC" })), [
          "rules: object"
        ])
        assert.deepInclude((yield* call("GET", `/audiences/${id}`)).body, { name: "Gold", rules: gold })
      })
    )
  })
})
