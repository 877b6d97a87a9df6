import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { AudienceMembers } from "../../../src/store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../src/store/consumer/Audiences.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aConsumer, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"

const names = (page: { readonly data: ReadonlyArray<{ readonly name: string }> }) => page.data.map(({ name }) => name)

describe("Audiences in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("are created empty, renamed and archived, and record the author", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const tenant = yield* aTenant()
        const created = yield* audiences.create(tenant, "someone", { name: "Friends" })
        assert.deepInclude(created, { name: "Friends", type: "STATIC", memberCount: 0, lastRefreshedAt: null })
        assert.deepInclude(created, { createdBy: "someone", updatedBy: "someone", archived: false })
        assert.deepStrictEqual(yield* audiences.find(tenant, created.id), created)
        const renamed = yield* audiences.change(tenant, created.id, "another", { name: "Family" })
        assert.deepInclude(renamed, { name: "Family", createdBy: "someone", updatedBy: "another" })
        assert.strictEqual((yield* audiences.change(tenant, created.id, "another", {})).name, "Family")
        const archived = yield* audiences.archive(tenant, created.id, "keeper")
        assert.deepInclude(archived._tag === "Archived" && archived.record, { archived: true, updatedBy: "keeper" })
        const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          audiences.find(tenant, created.id),
          audiences.change(tenant, created.id, "x", { name: "x" }),
          audiences.archive(tenant, created.id, "x")
        ]
        for (const attempt of attempts) assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound" })
      })
    )

    it.effect("belong to one organization in one mode, and are not found by any other", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const { id } = yield* audiences.create(tenant, "x", { name: "Friends" })
        const before = yield* members.add(tenant, id, "x", [consumerId])
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            audiences.find(stranger, id),
            audiences.change(stranger, id, "x", { name: "Mine" }),
            audiences.archive(stranger, id, "x"),
            members.list(stranger, id, {}),
            members.add(stranger, id, "x", [yield* aConsumer(stranger)]),
            members.remove(stranger, id, "x", [yield* aConsumer(stranger)])
          ]
          for (const attempt of attempts) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record: "Audience" })
          }
          assert.deepStrictEqual((yield* audiences.list(stranger, {})).data, [])
        }
        assert.deepStrictEqual(yield* audiences.find(tenant, id), before)
      })
    )

    it.effect("accept consumers of their tenant, all or none, each once", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const [one, two, archived, test] = [
          yield* aConsumer(tenant),
          yield* aConsumer(tenant),
          yield* aConsumer(tenant, { archived: true }),
          yield* aConsumer(inTestMode(tenant))
        ]
        const { id } = yield* audiences.create(tenant, "x", { name: "Friends" })
        const nobody = randomUUID()
        const refused = yield* Effect.flip(members.add(tenant, id, "x", [one, archived, test, nobody]))
        assert.deepInclude(refused, { _tag: "UnknownConsumers", consumerIds: [archived, test, nobody] })
        assert.deepInclude(yield* audiences.find(tenant, id), { memberCount: 0, lastRefreshedAt: null })

        const added = yield* members.add(tenant, id, "adder", [one, two, one])
        assert.deepInclude(added, { memberCount: 2, updatedBy: "adder" })
        assert.isNotNull(added.lastRefreshedAt)
        assert.deepStrictEqual(yield* members.add(tenant, id, "nobody", [two]), added)

        assert.strictEqual(
          (yield* Effect.flip(members.remove(tenant, id, "x", [one, nobody])))._tag,
          "UnknownConsumers"
        )
        const removed = yield* members.remove(tenant, id, "remover", [one])
        assert.deepInclude(removed, { memberCount: 1, updatedBy: "remover" })
        assert.deepStrictEqual(yield* members.remove(tenant, id, "x", [one]), removed)
        assert.deepStrictEqual(
          (yield* members.list(tenant, id, {})).data.map(({ consumerId }) => consumerId),
          [two]
        )
      })
    )

    it.effect("lose members that were archived since", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const { id } = yield* audiences.create(tenant, "x", { name: "Friends" })
        yield* members.add(tenant, id, "x", [consumerId])
        yield* sql`update consumers set archived = true where id = ${consumerId}`
        assert.strictEqual((yield* members.remove(tenant, id, "x", [consumerId])).memberCount, 0)
      })
    )

    it.effect("count their members correctly under concurrent changes", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const consumers = yield* Effect.forEach(Array.from({ length: 20 }), () => aConsumer(tenant))
        const { id } = yield* audiences.create(tenant, "x", { name: "Friends" })
        const changes = consumers.flatMap((_, index) => [
          members.add(tenant, id, "x", consumers.slice(0, index + 1)),
          members.remove(tenant, id, "x", [consumers[index]!])
        ])
        yield* Effect.all(changes, { concurrency: "unbounded" })
        const { memberCount } = yield* audiences.find(tenant, id)
        assert.strictEqual((yield* members.list(tenant, id, { first: 100 })).data.length, memberCount)
      })
    )

    it.effect("list their members page by page in both directions, and search them by address and name", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const { id } = yield* audiences.create(tenant, "x", { name: "Friends" })
        const added: Array<string> = []
        for (let n = 0; n < 7; n++) {
          const row = { type: "authenticated", email: `n${n}@example.com`, full_name: `N. ${n}` } as const
          added.push(yield* aConsumer(tenant, row))
        }
        yield* members.add(tenant, id, "x", added.slice(0, 4))
        yield* members.add(tenant, id, "x", added.slice(4))
        for (const backward of [false, true]) {
          const walked = yield* walk(3, (query) => members.list(tenant, id, query), { backward })
          assert.sameMembers(
            walked.map(({ consumerId }) => consumerId),
            added
          )
          assert.deepStrictEqual(
            walked.map(({ addedAt }) => addedAt),
            walked.map(({ addedAt }) => addedAt).toSorted((a, b) => (a ?? 0) - (b ?? 0))
          )
        }
        for (const search of ["N3@", "n. 3"]) {
          const { data } = yield* members.list(tenant, id, { search })
          assert.deepStrictEqual(
            data.map(({ consumerId, email, fullName, phone }) => [consumerId, email, fullName, phone]),
            [[added[3], "n3@example.com", "N. 3", null]]
          )
        }
        const other = yield* audiences.create(tenant, "x", { name: "Others" })
        const { pageInfo } = yield* members.list(tenant, id, { first: 1 })
        const refused = yield* Effect.flip(members.list(tenant, other.id, { first: 1, after: pageInfo.endCursor! }))
        assert.strictEqual(refused._tag, "PageRefused")
      })
    )

    it.effect("are sorted by time, name and last refresh, and found by name", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const created: Array<string> = []
        for (const name of ["Cats", "Ants", "Bees"]) created.push((yield* audiences.create(tenant, "x", { name })).id)
        yield* members.add(tenant, created[0]!, "x", [consumerId])
        assert.sameMembers(names(yield* audiences.list(tenant, {})), ["Cats", "Ants", "Bees"])
        assert.deepStrictEqual(names(yield* audiences.list(tenant, { sortBy: "name" })), ["Ants", "Bees", "Cats"])
        const byRefresh = yield* audiences.list(tenant, { sortBy: "lastRefreshedAt", sortDir: "desc", first: 1 })
        assert.deepStrictEqual(names(byRefresh), ["Cats"])
        assert.deepStrictEqual(names(yield* audiences.list(tenant, { search: "EE" })), ["Bees"])
        yield* audiences.archive(tenant, created[1]!, "x")
        const walked = yield* walk(1, (query) => audiences.list(tenant, { ...query, sortBy: "lastRefreshedAt" }))
        assert.deepStrictEqual(
          walked.map(({ name }) => name),
          ["Bees", "Cats"]
        )
      })
    )

    it.effect("are not archived while a sequence is restricted to them", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id: audienceId } = yield* audiences.create(tenant, "x", { name: "Friends" })
        const settings = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
        const { id: experienceId } = yield* experiences.create(tenant, "x", settings)
        yield* sequences.create(tenant, "x", experienceId, { name: "VIP", priority: 0, audienceId })
        assert.deepStrictEqual(yield* audiences.archive(tenant, audienceId, "x"), { _tag: "InUse", users: 1 })
        yield* experiences.archive(tenant, experienceId, "x")
        assert.strictEqual((yield* audiences.archive(tenant, audienceId, "x"))._tag, "Archived")
      })
    )

    it.effect("are either archived or assigned to a sequence, if both happen at once", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const settings = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
        const { id: experienceId } = yield* experiences.create(tenant, "x", settings)
        for (let round = 0; round < 10; round++) {
          const { id: audienceId } = yield* audiences.create(tenant, "x", { name: "Friends" })
          const [archived, got] = yield* Effect.all(
            [
              audiences.archive(tenant, audienceId, "x"),
              Effect.result(sequences.create(tenant, "x", experienceId, { name: "VIP", priority: 0, audienceId }))
            ],
            { concurrency: "unbounded" }
          )
          assert.strictEqual(archived._tag === "Archived", got._tag === "Failure", `round ${round}`)
        }
      })
    )
  })
})
