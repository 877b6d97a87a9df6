import { assert, describe, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aQueue, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"

const anExperience = Effect.fnUntraced(function* (tenant: Tenant) {
  const experiences = yield* Experiences
  return yield* experiences.create(tenant, "x", { name: "Drop", timeZone: "Asia/Tokyo", currencyCode: "JPY" })
})

describe("Sequences in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("return every setting as it was set, and null for the others", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id: experienceId } = yield* anExperience(tenant)
        const settings = { name: "VIP", priority: -3, productSelectionMode: "SYSTEM_ASSIGNED" } as const
        const created = yield* sequences.create(tenant, "someone", experienceId, settings)
        assert.deepInclude(created, {
          ...settings,
          experienceId,
          audienceId: null,
          createdBy: "someone",
          archived: false
        })
        assert.deepStrictEqual(yield* sequences.find(tenant, created.id), created)
        const bare = yield* sequences.create(tenant, "someone", experienceId, { name: "All", priority: 0 })
        assert.isNull(bare.productSelectionMode)
      })
    )

    it.effect("belong to one organization in one mode, and are not found by any other", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id: experienceId } = yield* anExperience(tenant)
        const { id } = yield* sequences.create(tenant, "x", experienceId, { name: "All", priority: 0 })
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          const refusals = yield* Effect.forEach(
            [
              sequences.find(stranger, id),
              sequences.change(stranger, id, "x", Result.succeed),
              sequences.archive(stranger, id, "x"),
              sequences.createIn(stranger, id, "queue", () => Effect.void),
              sequences.create(stranger, "x", experienceId, { name: "Mine", priority: 0 })
            ],
            (attempt) => Effect.flip(attempt as Effect.Effect<unknown, unknown>)
          )
          const records = ["Sequence", "Sequence", "Sequence", "Sequence", "Experience"]
          assert.deepStrictEqual(
            refusals.map((refusal) => (refusal as { record: string }).record),
            records
          )
          assert.deepStrictEqual((yield* sequences.list(stranger, {}, {})).data, [])
          assert.deepStrictEqual((yield* sequences.list(stranger, {}, { experienceId })).data, [])
        }
        assert.lengthOf((yield* sequences.list(tenant, {}, {})).data, 1)
      })
    )

    it.effect("pass their experience to records created below them, and roll back a creation that fails", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id: experienceId } = yield* anExperience(tenant)
        const { id } = yield* sequences.create(tenant, "x", experienceId, { name: "All", priority: 0 })
        const parents = yield* sequences.createIn(tenant, id, "queue", Effect.succeed)
        assert.deepStrictEqual(parents, {
          experienceId,
          sequenceId: id,
          timeZone: "Asia/Tokyo",
          currencyCode: "JPY",
          experienceWindow: undefined
        })

        const failed = sequences.createIn(tenant, id, "queue", () =>
          sql`update sequences set name = 'half done' where id = ${id}`.pipe(Effect.andThen(Effect.fail("no" as const)))
        )
        assert.strictEqual(yield* Effect.flip(failed), "no")
        assert.strictEqual((yield* sequences.find(tenant, id)).name, "All")
      })
    )

    it.effect("are archived once no mechanism is left, and accept no record below them afterwards", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const queue = yield* aQueue(tenant)
        const occupied = yield* sequences.archive(tenant, queue.sequenceId, "x")
        assert.deepStrictEqual(occupied, { _tag: "HasMechanisms", mechanisms: [{ id: queue.id, kind: "queue" }] })
        yield* sql`update mechanisms set archived = true where id = ${queue.id}`
        const archived = yield* sequences.archive(tenant, queue.sequenceId, "keeper")
        assert.deepInclude(archived._tag === "Archived" && archived.record, { archived: true, updatedBy: "keeper" })
        assert.strictEqual((yield* Effect.flip(sequences.find(tenant, queue.sequenceId)))._tag, "RecordNotFound")
        const late = yield* Effect.flip(sequences.createIn(tenant, queue.sequenceId, "queue", () => Effect.void))
        assert.strictEqual(late._tag, "RecordNotFound")
      })
    )

    it.effect("accept no record below them once their experience is archived, even by direct SQL", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id: experienceId } = yield* anExperience(tenant)
        const { id } = yield* sequences.create(tenant, "x", experienceId, { name: "All", priority: 0 })
        yield* sql`update experiences set archived = true where id = ${experienceId}`
        assert.strictEqual(
          (yield* Effect.flip(sequences.createIn(tenant, id, "queue", () => Effect.void)))._tag,
          "RecordNotFound"
        )
      })
    )

    it.effect("are sorted by time, name and priority, for all experiences or one", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id: one } = yield* anExperience(tenant)
        const { id: other } = yield* anExperience(tenant)
        for (let n = 0; n < 15; n++) {
          yield* sequences.create(tenant, "x", n % 2 === 0 ? one : other, { name: `S${n % 5}`, priority: (n % 7) - 3 })
        }
        const priorities = yield* walk(4, (query) =>
          sequences.list(tenant, { ...query, sortBy: "priority", sortDir: "desc" }, {})
        )
        assert.lengthOf(new Set(priorities.map(({ id }) => id)), 15)
        const numbers = priorities.map(({ priority }) => priority)
        assert.deepStrictEqual(
          numbers,
          numbers.toSorted((a, b) => b - a)
        )

        const ofOne = yield* walk(3, (query) => sequences.list(tenant, query, { experienceId: one }), {
          backward: true
        })
        assert.lengthOf(ofOne, 8)
        assert.isTrue(ofOne.every(({ experienceId }) => experienceId === one))
        assert.lengthOf((yield* sequences.list(tenant, { search: "s4" }, {})).data, 3)
        assert.lengthOf((yield* sequences.list(tenant, {}, { experienceId: randomUUID() })).data, 0)

        const { pageInfo } = yield* sequences.list(tenant, { first: 2 }, { experienceId: one })
        const foreign = sequences.list(tenant, { first: 2, after: pageInfo.endCursor! }, { experienceId: other })
        assert.deepInclude(yield* Effect.flip(foreign), { _tag: "PageRefused", received: "a cursor of other filters" })
      })
    )
  })
})
