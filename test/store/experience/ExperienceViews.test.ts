import { assert, describe, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { AudienceMembers } from "../../../src/store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../src/store/consumer/Audiences.ts"
import { ExperienceEntries } from "../../../src/store/experience/ExperienceEntries.ts"
import { type ExperienceView, ExperienceViews } from "../../../src/store/experience/ExperienceViews.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { SequenceAccess } from "../../../src/store/experience/SequenceAccess.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aConsumer, aQueue, aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const anExperience = Effect.fnUntraced(function* (tenant: Tenant, settings: object = {}) {
  const experiences = yield* Experiences
  return yield* experiences.create(tenant, "x", { name: "Drop", timeZone: "UTC", currencyCode: "USD", ...settings })
})

const names = ({ sequences }: ExperienceView) => sequences.map(({ name }) => name)

describe("Experiences as consumers see them", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("contain their sequences by priority, each with its mechanisms as their records show them", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const sequences = yield* Sequences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const settings = { theme: { primary: "#fff" }, i18n: { de: { title: "Los" } } }
        const experience = yield* anExperience(tenant, settings)
        const empty = yield* views.find(tenant, experience.id)
        assert.deepStrictEqual(empty, {
          experience,
          hasProtectedSequences: false,
          isBarred: false,
          enteredAt: undefined,
          sequences: []
        })
        const ids: { [name: string]: string } = {}
        for (const [name, priority] of [
          ["Low", -1],
          ["First", 5],
          ["Second", 5],
          ["Middle", 0]
        ] as const) {
          ids[name] = (yield* sequences.create(tenant, "x", experience.id, { name, priority })).id
        }
        yield* sql`update sequences set created_at = created_at + interval '1 hour' where id = ${ids["Second"]!}`
        const below = { experienceId: experience.id, sequenceId: ids["Second"]! }
        const one = yield* aQueue(tenant, { ...below, configuration: { openAt: 2_000_000_000_000 } })
        const two = yield* aQueue(tenant, below)
        yield* sql`update mechanisms set created_at = created_at + interval '1 hour' where id = ${two.id}`
        const gone = yield* aQueue(tenant, below)
        yield* sql`update mechanisms set archived = true where id = ${gone.id}`
        const ended = new Date(1_700_000_000_123)
        yield* sql`
          update mechanisms set status_override = 'ended', status_override_at = ${ended}, status_override_by = 'someone',
            teardown_status = 'pending'
          where id = ${two.id}`
        const view = yield* views.find(tenant, experience.id)
        assert.deepStrictEqual(names(view), ["First", "Second", "Middle", "Low"])
        assert.deepStrictEqual(view.sequences[0], {
          id: ids["First"]!,
          audienceId: null,
          name: "First",
          priority: 5,
          mechanisms: []
        })
        const [queue, other, ...rest] = view.sequences[1]!.mechanisms
        assert.deepStrictEqual(rest, [])
        assert.deepInclude(queue, { id: one.id, kind: "queue", sequenceId: ids["Second"]! })
        assert.deepInclude(queue!.configuration, { name: "Line", openAt: "2033-05-18T03:33:20.000Z" })
        assert.deepStrictEqual(other!.status, {
          statusOverride: "ended",
          statusOverrideAt: ended.getTime(),
          statusOverrideBy: "someone",
          teardownStatus: "pending"
        })
      })
    )

    it.effect("open and close with the earliest and latest of their mechanisms, unless they set these times", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const tenant = yield* aTenant()
        const { id: experienceId } = yield* anExperience(tenant)
        yield* aQueue(tenant, { experienceId, configuration: { openAt: 1_000, closeAt: 2_000 } })
        yield* aQueue(tenant, { experienceId, configuration: { openAt: 500, closeAt: 1_500 } })
        const derived = (yield* views.find(tenant, experienceId)).experience
        assert.deepStrictEqual([derived.openAt, derived.closeAt], [500, 2_000])
        // A mechanism without times does not contribute.
        yield* aQueue(tenant, { experienceId })
        const still = (yield* views.find(tenant, experienceId)).experience
        assert.deepStrictEqual([still.openAt, still.closeAt], [500, 2_000])
        const said = yield* anExperience(tenant, { openAt: 7, closeAt: 8 })
        const { experience } = yield* views.find(tenant, said.id)
        assert.deepStrictEqual([experience.openAt, experience.closeAt], [7, 8])
      })
    )

    it.effect("show a protected sequence to its audience, and only its existence to the others", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const sequences = yield* Sequences
        const access = yield* SequenceAccess
        const tenant = yield* aTenant()
        const [member, knowing, other] = [yield* aConsumer(tenant), yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const audience = yield* (yield* Audiences).create(tenant, "x", { name: "Friends" })
        yield* (yield* AudienceMembers).add(tenant, audience.id, "x", [member])
        const { id: experienceId } = yield* anExperience(tenant)
        const create = (name: string, more: object, code?: string) =>
          sequences.create(tenant, "x", experienceId, { name, priority: 0, ...more }, code)
        yield* create("All", {})
        assert.isFalse((yield* views.find(tenant, experienceId)).hasProtectedSequences)
        yield* create("Friends", { audienceId: audience.id })
        yield* create("Code", {}, "open")
        yield* create("Both", { audienceId: audience.id }, "open")
        yield* access.show(tenant, { experienceId, consumerId: knowing, accessCode: "open" })
        const seen = Effect.fnUntraced(function* (consumerId?: string) {
          const view = yield* views.find(tenant, experienceId, consumerId)
          assert.isTrue(view.hasProtectedSequences)
          return names(view)
        })
        assert.deepStrictEqual(yield* seen(), ["All"])
        assert.deepStrictEqual(yield* seen(other), ["All"])
        assert.sameMembers(yield* seen(member), ["All", "Friends"])
        assert.sameMembers(yield* seen(knowing), ["All", "Code"])
        yield* access.show(tenant, { experienceId, consumerId: member, accessCode: "open" })
        assert.sameMembers(yield* seen(member), ["All", "Friends", "Code", "Both"])
      })
    )

    it.effect("are not found by another tenant, or once they are archived", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const entries = yield* ExperienceEntries
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const { id } = yield* anExperience(tenant)
        const consumerId = yield* aConsumer(tenant)
        const refused = Effect.fnUntraced(function* (as: Tenant, experienceId: string) {
          const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            views.find(as, experienceId),
            views.find(as, experienceId, consumerId),
            entries.enter(as, experienceId, consumerId),
            entries.leave(as, experienceId, consumerId)
          ]
          for (const attempt of attempts) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record: "Experience" })
          }
        })
        yield* refused(inTestMode(tenant), id)
        yield* refused(yield* aTenant(), id)
        yield* refused(tenant, randomUUID())
        yield* entries.enter(tenant, id, consumerId)
        yield* experiences.archive(tenant, id, "x")
        yield* refused(tenant, id)
      })
    )

    it.effect("are entered once, at the first request, and left", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const entries = yield* ExperienceEntries
        const tenant = yield* aTenant()
        const { id } = yield* anExperience(tenant)
        const [consumerId, other] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        assert.isFalse(yield* entries.leave(tenant, id, consumerId))
        const tries = yield* Effect.all(
          Array.from({ length: 20 }, () => entries.enter(tenant, id, consumerId)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(new Set(tries), 1)
        assert.strictEqual((yield* views.find(tenant, id, consumerId)).enteredAt, tries[0])
        assert.isUndefined((yield* views.find(tenant, id, other)).enteredAt)
        assert.isFalse(yield* entries.leave(tenant, id, other))
        assert.isTrue(yield* entries.leave(tenant, id, consumerId))
        assert.isFalse(yield* entries.leave(tenant, id, consumerId))
        assert.isUndefined((yield* views.find(tenant, id, consumerId)).enteredAt)
      })
    )

    it.effect("are entered by many consumers at once, independently of each other", () =>
      Effect.gen(function* () {
        const entries = yield* ExperienceEntries
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const [one, other, gone] = [
          yield* anExperience(tenant),
          yield* anExperience(tenant),
          yield* anExperience(tenant)
        ]
        yield* (yield* Experiences).archive(tenant, gone.id, "x")
        const early = randomUUID()
        const before = yield* entries.enter(tenant, one.id, early)
        const consumers = Array.from({ length: 300 }, () => randomUUID())
        const outcomes = yield* Effect.all(
          [
            ...consumers.map((id) => entries.enter(tenant, one.id, id)),
            ...consumers.map((id) => entries.enter(tenant, other.id, id)),
            ...consumers.toReversed().map((id) => entries.enter(tenant, one.id, id)),
            entries.enter(tenant, one.id, early),
            Effect.flip(entries.enter(tenant, gone.id, early)),
            Effect.flip(entries.enter(inTestMode(tenant), other.id, early)),
            Effect.flip(entries.enter(tenant, randomUUID(), early))
          ],
          { concurrency: "unbounded" }
        )
        const [again, ...refused] = outcomes.slice(900)
        assert.strictEqual(again, before)
        for (const refusal of refused) assert.deepInclude(refusal, { _tag: "RecordNotFound" })
        const stored = yield* sql<{
          readonly experience_id: string
          readonly consumer_id: string
          readonly at: number
        }>`
          select experience_id, consumer_id, (extract(epoch from entered_at) * 1000)::float8 as at
          from experience_entries where experience_id in (${one.id}, ${other.id})`
        assert.lengthOf(stored, 601)
        const at = new Map(stored.map((row) => [`${row.experience_id} ${row.consumer_id}`, row.at]))
        for (const [index, consumerId] of consumers.entries()) {
          assert.strictEqual(outcomes[index], at.get(`${one.id} ${consumerId}`))
          assert.strictEqual(outcomes[300 + index], at.get(`${other.id} ${consumerId}`))
          assert.strictEqual(outcomes[899 - index], at.get(`${one.id} ${consumerId}`))
        }
      })
    )

    it.effect("refuse consumers that have not sent the access code, and hide the sequences from them", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const settings = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
        const { id: experienceId } = yield* experiences.create(tenant, "x", settings, "sesame")
        yield* sequences.create(tenant, "x", experienceId, { name: "All", priority: 0 })
        yield* sequences.create(tenant, "x", experienceId, { name: "Own", priority: 0 }, "mine")
        const consumerId = yield* aConsumer(tenant)
        const seen = Effect.map(views.find(tenant, experienceId, consumerId), (view) => {
          assert.isTrue(view.hasProtectedSequences)
          return [view.isBarred, ...names(view)]
        })
        assert.deepStrictEqual(yield* seen, [true])
        assert.deepStrictEqual(names(yield* views.find(tenant, experienceId)), [])
        assert.isTrue(yield* access.show(tenant, { experienceId, consumerId, accessCode: "mine" }))
        assert.deepStrictEqual(yield* seen, [true])
        assert.isTrue(yield* access.show(tenant, { experienceId, consumerId, accessCode: "sesame" }))
        assert.deepStrictEqual(yield* seen, [false, "All", "Own"])
        yield* experiences.change(tenant, experienceId, "x", Result.succeed, null)
        const other = yield* views.find(tenant, experienceId, yield* aConsumer(tenant))
        assert.deepStrictEqual([other.isBarred, ...names(other)], [false, "All"])
      })
    )

    it.effect("show at most 200 sequences, those of highest priority", () =>
      Effect.gen(function* () {
        const views = yield* ExperienceViews
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id } = yield* anExperience(tenant)
        yield* Effect.forEach(
          Array.from({ length: 203 }, (_, n) => n),
          (n) => sequences.create(tenant, "x", id, { name: `${n}`, priority: n }),
          { concurrency: 8 }
        )
        const shown = names(yield* views.find(tenant, id))
        assert.deepStrictEqual([shown.length, shown[0], shown.at(-1)], [200, "202", "3"])
      })
    )
  })
})
