import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { Admin, anExperience, aSequence, issuesOf, layer as adminLayer, type Organization } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const notFound = [404, { error: "Audience not found" }]

const anAudience = Effect.fnUntraced(function* (name = "Friends", as?: Organization) {
  const { call } = yield* Admin
  return (yield* call("POST", "/audiences", { name }, as)).body as { readonly id: string }
})

const consumers = (count: number, as: Organization) =>
  Effect.orDie(Effect.forEach(Array.from({ length: count }), () => aConsumer(as.tenant)))

const idsOf = ({ body }: { readonly body: any }): ReadonlyArray<string> =>
  body.data.map(({ consumerId }: { readonly consumerId: string }) => consumerId)

describe("Audiences on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a name alone, return every field, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { status, body } = yield* call("POST", "/audiences", { name: "Friends" })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          name: "Friends",
          type: "STATIC",
          rules: null,
          memberCount: 0,
          lastRefreshedAt: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/audiences/${id}`)).body, body)
        const renamed = yield* call("PUT", `/audiences/${id}`, { name: "Family", type: "STATIC" })
        assert.deepInclude(renamed.body, { id, name: "Family" })
        assert.strictEqual((yield* call("PUT", `/audiences/${id}`, {})).body.name, "Family")
      })
    )

    it.effect("refuse malformed fields, and change nothing", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const { id } = yield* anAudience("Friends", as)
        const before = (yield* call("GET", "/audiences", undefined, as)).body.data
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ name: "" }, ["name: min_length"]],
          [{ name: 1 }, ["name: string"]],
          [{ name: "x", type: "SOME" }, ["type: picklist"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const creation = yield* call("POST", "/audiences", mistake, as)
          assert.deepStrictEqual(issuesOf(creation), expected, JSON.stringify(mistake))
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/audiences/${id}`, mistake, as)), expected)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/audiences", {}, as)), ["name: string"])
        assert.deepStrictEqual((yield* call("GET", "/audiences", undefined, as)).body.data, before)
      })
    )

    it.effect("take up to 500 members in one request, and remove them", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id } = yield* anAudience()
        const members = `/audiences/${id}/members`
        const consumerIds = yield* consumers(500, brand)
        const added = yield* call("POST", members, { consumerIds })
        assert.strictEqual(added.status, 201)
        assert.deepInclude(added.body, { id, memberCount: 500 })
        assert.match(added.body.lastRefreshedAt, /Z$/)
        const again = yield* call("POST", members, { consumerIds: consumerIds.slice(0, 3) })
        assert.deepStrictEqual(again.body, added.body)
        const removed = yield* call("DELETE", members, { consumerIds: consumerIds.slice(1) })
        assert.deepStrictEqual([removed.status, removed.body.memberCount], [200, 1])
        const { body } = yield* call("GET", members)
        const [{ addedAt, ...member }] = body.data
        assert.deepStrictEqual(member, { consumerId: consumerIds[0], email: null, phone: null, fullName: null })
        assert.strictEqual(addedAt, added.body.lastRefreshedAt)
      })
    )

    it.effect("refuse members that do not exist, naming each, and add none of the others", () =>
      Effect.gen(function* () {
        const { call, brand, stranger, rehearsal } = yield* Admin
        const { id } = yield* anAudience()
        const members = `/audiences/${id}/members`
        const [known] = yield* consumers(1, brand)
        const [foreign] = yield* consumers(1, stranger)
        const [test] = yield* consumers(1, rehearsal)
        const consumerIds = [foreign, known, unknown, test]
        for (const method of ["POST", "DELETE"]) {
          const refused = yield* call(method, members, { consumerIds })
          const expected = [0, 2, 3].map((index) => `consumerIds.${index}: picklist`)
          assert.deepStrictEqual(issuesOf(refused), expected)
          assert.deepStrictEqual(
            refused.body.issues.map(({ received }: { readonly received: string }) => received),
            [foreign, unknown, test].map((id) => JSON.stringify(id))
          )
        }
        assert.deepStrictEqual((yield* call("GET", members)).body.data, [])
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{}, ["consumerIds: array"]],
          [{ consumerIds: [] }, ["consumerIds: min_length"]],
          [{ consumerIds: ["x", known] }, ["consumerIds.0: uuid"]],
          [{ consumerIds: known }, ["consumerIds: array"]],
          [{ consumerIds: Array.from({ length: 501 }, () => known) }, ["consumerIds: max_length"]]
        ]
        for (const [mistake, expected] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", members, mistake)), expected)
          assert.deepStrictEqual(issuesOf(yield* call("DELETE", members, mistake)), expected)
        }
        const many = Array.from({ length: 500 }, () => randomUUID())
        assert.lengthOf((yield* call("POST", members, { consumerIds: many })).body.issues, 100)
      })
    )

    it.effect("list their members in pages", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id } = yield* anAudience()
        const members = `/audiences/${id}/members`
        const consumerIds = yield* consumers(5, brand)
        yield* call("POST", members, { consumerIds })
        const first = yield* call("GET", `${members}?first=2&sortBy=consumerId`)
        const { endCursor } = first.body.pageInfo
        const rest = yield* call("GET", `${members}?first=100&sortBy=consumerId&after=${endCursor}`)
        assert.deepStrictEqual([...idsOf(first), ...idsOf(rest)], consumerIds.toSorted())
        assert.deepStrictEqual(issuesOf(yield* call("GET", `${members}?after=${endCursor}`)), ["after: string"])
        assert.deepStrictEqual(issuesOf(yield* call("GET", `${members}?sortBy=name`)), ["sortBy: picklist"])
        const other = yield* anAudience()
        const foreign = yield* call("GET", `/audiences/${other.id}/members?sortBy=consumerId&after=${endCursor}`)
        assert.deepStrictEqual(issuesOf(foreign), ["after: string"])
      })
    )

    it.effect("are sorted by name and last refresh, and found by name", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const [, middle] = [yield* anAudience("Bees", as), yield* anAudience("Cats", as), yield* anAudience("Ants", as)]
        yield* call("POST", `/audiences/${middle.id}/members`, { consumerIds: yield* consumers(1, as) }, as)
        const names = (query: string) =>
          Effect.map(call("GET", `/audiences?${query}`, undefined, as), ({ body }) =>
            body.data.map(({ name }: { readonly name: string }) => name)
          )
        assert.deepStrictEqual(yield* names("sortBy=name"), ["Ants", "Bees", "Cats"])
        assert.deepStrictEqual(yield* names("sortBy=lastRefreshedAt&last=1"), ["Cats"])
        assert.deepStrictEqual(yield* names("search=ee"), ["Bees"])
        assert.deepStrictEqual(issuesOf(yield* call("GET", "/audiences?sortBy=memberCount", undefined, as)), [
          "sortBy: picklist"
        ])
      })
    )

    it.effect("are archived, except while a sequence is restricted to them", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: audienceId } = yield* anAudience()
        const { id: experienceId } = yield* anExperience()
        const sequence = (yield* call("POST", "/sequences", { experienceId, name: "VIP", audienceId })).body
        const refused = yield* call("DELETE", `/audiences/${audienceId}`)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "AUDIENCE_IN_USE"])
        yield* call("PUT", `/sequences/${sequence.id}`, { audienceId: null })
        const archived = yield* call("DELETE", `/audiences/${audienceId}`)
        assert.deepInclude(archived.body, { id: audienceId, archived: true })
        for (const [method, path, body] of [
          ["GET", `/audiences/${audienceId}`],
          ["PUT", `/audiences/${audienceId}`, { name: "x" }],
          ["DELETE", `/audiences/${audienceId}`],
          ["GET", `/audiences/${audienceId}/members`],
          ["POST", `/audiences/${audienceId}/members`, { consumerIds: [unknown] }],
          ["DELETE", `/audiences/${audienceId}/members`, { consumerIds: [unknown] }]
        ] as const) {
          const answer = yield* call(method, path, body)
          assert.deepStrictEqual([answer.status, answer.body], notFound, `${method} ${path}`)
        }
        const { id } = yield* aSequence()
        const late = yield* call("PUT", `/sequences/${id}`, { audienceId })
        assert.deepStrictEqual([late.status, late.body], notFound)
      })
    )
  })
})
