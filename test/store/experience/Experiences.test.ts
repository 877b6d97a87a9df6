import { assert, describe, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Settings } from "../../../src/domain/experience/Experience.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { cursorLifetimeMillis } from "../../../src/store/records/Cursors.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aQueue, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"

const settings: Settings = { name: "Drop", timeZone: "Europe/Berlin", currencyCode: "EUR" }
const at = (text: string): number => Date.parse(text)

describe("Experiences in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("return every setting as it was set, and null for the others", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const full: Settings = {
          ...settings,
          name: "Ünïcödé 👟 \"'\\ %_",
          openAt: at("2026-11-21T18:00:00.123Z"),
          closeAt: at("2026-11-22T18:00:00.456Z"),
          theme: { primary: "#000", variant: "retro", logoUrl: "https://example.com/logo.png" },
          i18n: { de: { title: "Los!", nested: [1, null, { deep: true }] } }
        }
        const created = yield* experiences.create(tenant, "someone", full)
        assert.deepInclude(created, { ...full, organizationId: tenant.organizationId, archived: false })
        assert.deepStrictEqual(yield* experiences.find(tenant, created.id), created)
        assert.strictEqual(created.createdBy, "someone")

        const bare = yield* experiences.create(tenant, "someone", settings)
        assert.deepInclude(bare, { openAt: null, closeAt: null, theme: null, i18n: null })
      })
    )

    it.effect("belong to one organization in one mode, and are not found by any other", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const { id } = yield* experiences.create(tenant, "someone", settings)
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          const found = yield* Effect.flip(experiences.find(stranger, id))
          const changed = yield* Effect.flip(experiences.change(stranger, id, "x", Result.succeed))
          const archived = yield* Effect.flip(experiences.archive(stranger, id, "x"))
          assert.deepStrictEqual(
            [found._tag, changed._tag, archived._tag],
            ["RecordNotFound", "RecordNotFound", "RecordNotFound"]
          )
          assert.deepStrictEqual((yield* experiences.list(stranger, {})).data, [])
        }
        assert.strictEqual((yield* experiences.find(tenant, id)).updatedBy, "someone")
      })
    )

    it.effect("inherit time zone and currency from the organization, else UTC and USD", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const german = yield* aTenant({ timeZone: "Europe/Berlin", currencyCode: "EUR" })
        assert.deepStrictEqual(yield* experiences.defaults(german), { timeZone: "Europe/Berlin", currencyCode: "EUR" })
        const plain = yield* experiences.defaults(yield* aTenant())
        assert.deepStrictEqual(plain, { timeZone: "UTC", currencyCode: "USD" })
      })
    )

    it.effect("change to the result of a revision, and do not change if the revision refuses", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const created = yield* experiences.create(tenant, "someone", { ...settings, i18n: { a: 1 } })
        const refusal = yield* Effect.flip(
          experiences.change(tenant, created.id, "x", () => Result.fail("no" as const))
        )
        assert.strictEqual(refusal, "no")
        assert.deepStrictEqual(yield* experiences.find(tenant, created.id), created)

        const changed = yield* experiences.change(tenant, created.id, "another", () =>
          Result.succeed({ ...settings, name: "Renamed" })
        )
        assert.deepInclude(changed, { name: "Renamed", i18n: null, createdBy: "someone", updatedBy: "another" })
        assert.isAtLeast(changed.updatedAt, created.updatedAt)
      })
    )

    it.effect("lose no change under concurrent updates of one experience", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const { id } = yield* experiences.create(tenant, "someone", { ...settings, i18n: {} })
        yield* Effect.forEach(
          Array.from({ length: 30 }, (_, n) => n),
          (n) =>
            experiences.change(tenant, id, `${n}`, (current) =>
              Result.succeed({ ...current, i18n: { ...current.i18n, [n]: true } })
            ),
          { concurrency: 8 }
        )
        assert.lengthOf(Object.keys((yield* experiences.find(tenant, id)).i18n!), 30)
      })
    )

    it.effect("have the window of their mechanisms where they have none", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const { id } = yield* experiences.create(tenant, "someone", settings)
        const window = (openAt?: string, closeAt?: string) => ({
          experienceId: id,
          configuration: {
            ...(openAt === undefined ? {} : { openAt: at(openAt) }),
            ...(closeAt === undefined ? {} : { closeAt: at(closeAt) })
          }
        })
        const bounds = Effect.map(experiences.find(tenant, id), ({ openAt, closeAt }) => ({ openAt, closeAt }))

        yield* aQueue(tenant, window("2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z"))
        yield* aQueue(tenant, window("2027-01-01T00:00:00Z", "2027-01-05T00:00:00Z"))
        yield* aQueue(tenant, window("2027-01-03T00:00:00Z", "2027-01-04T00:00:00Z"))
        assert.deepStrictEqual(yield* bounds, {
          openAt: at("2027-01-01T00:00:00Z"),
          closeAt: at("2027-01-05T00:00:00Z")
        })

        yield* experiences.change(tenant, id, "x", (current) =>
          Result.succeed({ ...current, openAt: at("2026-12-01T00:00:00Z") })
        )
        assert.deepStrictEqual(yield* bounds, {
          openAt: at("2026-12-01T00:00:00Z"),
          closeAt: at("2027-01-05T00:00:00Z")
        })

        // One that is open until it is ended has no closing, and does not change the closing of the others.
        yield* aQueue(tenant, window("2027-01-03T00:00:00Z"))
        yield* aQueue(tenant, window())
        assert.deepStrictEqual(yield* bounds, {
          openAt: at("2026-12-01T00:00:00Z"),
          closeAt: at("2027-01-05T00:00:00Z")
        })
      })
    )

    it.effect("are archived with their sequences, if no mechanism is left", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const queue = yield* aQueue(tenant)
        const id = queue.experienceId

        const occupied = yield* experiences.archive(tenant, id, "x")
        assert.deepStrictEqual(occupied, { _tag: "HasMechanisms", mechanisms: [{ id: queue.id, kind: "queue" }] })
        assert.isFalse((yield* experiences.find(tenant, id)).archived)

        yield* sql`update mechanisms set archived = true where id = ${queue.id}`
        const archived = yield* experiences.archive(tenant, id, "keeper")
        assert.strictEqual(archived._tag === "Archived" && archived.record.updatedBy, "keeper")
        assert.strictEqual((yield* Effect.flip(experiences.find(tenant, id)))._tag, "RecordNotFound")
        assert.strictEqual((yield* Effect.flip(experiences.archive(tenant, id, "x")))._tag, "RecordNotFound")
        assert.strictEqual((yield* Effect.flip(sequences.find(tenant, queue.sequenceId)))._tag, "RecordNotFound")
        const orphan = sequences.create(tenant, "x", id, { name: "Late", priority: 0 })
        assert.deepInclude(yield* Effect.flip(orphan), { _tag: "RecordNotFound", record: "Experience" })
      })
    )

    it.effect("cannot be archived while a creation below them is in progress", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id } = yield* experiences.create(tenant, "someone", settings)
        const sequence = yield* sequences.create(tenant, "someone", id, { name: "Sale", priority: 0 })
        const order: Array<string> = []
        const begun = yield* Deferred.make<void>()
        const goOn = yield* Deferred.make<void>()
        const creating = yield* sequences
          .createIn(tenant, sequence.id, "queue", () =>
            Effect.gen(function* () {
              yield* Deferred.succeed(begun, undefined)
              yield* Deferred.await(goOn)
              order.push("created")
            })
          )
          .pipe(Effect.forkChild)
        yield* Deferred.await(begun)
        const archiving = yield* experiences.archive(tenant, id, "x").pipe(
          Effect.tap(() => Effect.sync(() => order.push("archived"))),
          Effect.forkChild({ startImmediately: true })
        )
        yield* Effect.sleep("150 millis")
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.joinAll([creating, archiving])
        assert.deepStrictEqual(order, ["created", "archived"])
      })
    )

    it.effect("are listed once each in each order and direction, during concurrent additions and archiving", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        // Names and windows contain duplicates, so the id decides their order.
        const made = yield* Effect.forEach(
          Array.from({ length: 23 }, (_, n) => n),
          (n) =>
            experiences.create(tenant, "x", {
              ...settings,
              name: `Drop ${n % 4}`,
              ...(n % 3 === 0 ? {} : { openAt: at("2027-01-01T00:00:00Z") + (n % 5) })
            })
        )
        yield* sql`update experiences set created_at = '2026-01-01' where id = any(${made.slice(0, 9).map(({ id }) => id)}::uuid[])`
        const addOne = experiences.create(tenant, "x", { ...settings, name: "Drop 2" })
        for (const sortBy of ["createdAt", "name", "openAt"] as const) {
          for (const sortDir of ["asc", "desc"] as const) {
            const before = (yield* experiences.list(tenant, { first: 100, sortBy, sortDir })).data.map(({ id }) => id)
            for (const backward of [false, true]) {
              const walked = yield* walk(4, (query) => experiences.list(tenant, { ...query, sortBy, sortDir }), {
                backward,
                between: (pages) => (pages === 2 ? addOne : Effect.void)
              })
              const ids = walked.map(({ id }) => id)
              assert.strictEqual(new Set(ids).size, ids.length, `${sortBy} ${sortDir} shows one twice`)
              assert.deepStrictEqual(
                ids.filter((id) => before.includes(id)),
                before,
                `${sortBy} ${sortDir} ${backward} skips one`
              )
              before.splice(
                0,
                before.length,
                ...(yield* experiences.list(tenant, { first: 100, sortBy, sortDir })).data.map(({ id }) => id)
              )
            }
          }
        }
        const names = (yield* experiences.list(tenant, { first: 100, sortBy: "name", sortDir: "desc" })).data
        assert.deepStrictEqual(
          names.map(({ name }) => name),
          names
            .map(({ name }) => name)
            .toSorted()
            .toReversed()
        )
        const opening = (yield* experiences.list(tenant, { first: 100, sortBy: "openAt" })).data.map(
          ({ openAt }) => openAt
        )
        assert.deepStrictEqual(
          opening,
          opening.toSorted((a, b) => (a ?? Infinity) - (b ?? Infinity) || 0)
        )
      })
    )

    it.effect("are found by a part of their name, with any characters", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        for (const name of ["100% wool", "100 wool", "under_score", "under-score", "back\\slash", "Grün"]) {
          yield* experiences.create(tenant, "x", { ...settings, name })
        }
        const found = (search: string) =>
          Effect.map(experiences.list(tenant, { search, sortBy: "name" }), ({ data }) => data.map(({ name }) => name))
        assert.deepStrictEqual(yield* found("0%"), ["100% wool"])
        assert.deepStrictEqual(yield* found("r_s"), ["under_score"])
        assert.deepStrictEqual(yield* found("k\\s"), ["back\\slash"])
        assert.sameMembers([...(yield* found("WOOL"))], ["100 wool", "100% wool"])
        assert.deepStrictEqual(yield* found("rü"), ["Grün"])
        assert.deepStrictEqual(yield* found("nothing"), [])
      })
    )

    it.effect("refuse a cursor after a day", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        yield* experiences.create(tenant, "x", settings)
        const { pageInfo } = yield* experiences.list(tenant, {})
        const clock = yield* Clock.Clock
        const later: Clock.Clock = Object.assign(Object.create(clock), {
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + cursorLifetimeMillis + 1)
        })
        const asked = experiences.list(tenant, { after: pageInfo.endCursor! })
        assert.deepStrictEqual((yield* asked).data, [])
        const refused = yield* Effect.flip(asked.pipe(Effect.provideService(Clock.Clock, later)))
        assert.deepInclude(refused, { _tag: "PageRefused", parameter: "after", received: "an expired cursor" })
      })
    )

    it.effect("are unknown under an id that was never issued", () =>
      Effect.gen(function* () {
        const experiences = yield* Experiences
        const unknown = yield* Effect.flip(experiences.find(yield* aTenant(), randomUUID()))
        assert.deepInclude(unknown, { _tag: "RecordNotFound", record: "Experience" })
      })
    )
  })
})
