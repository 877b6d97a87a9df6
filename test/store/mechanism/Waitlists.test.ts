import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import type { ConfigurationOf, Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { Waitlists } from "../../../src/store/mechanism/Waitlists.ts"
import { aConsumer, aTenant, byHand, inTestMode, layer as records } from "../support/recordsFixture.ts"

const now = Date.parse("2026-11-21T18:00:00.000Z")
const at = (minutes: number) => now + minutes * 60_000

const aSequence = Effect.fnUntraced(function* (tenant: Tenant) {
  const experiences = yield* Experiences
  const sequences = yield* Sequences
  const settings = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
  const { id: experienceId } = yield* experiences.create(tenant, "test", settings)
  const { id: sequenceId } = yield* sequences.create(tenant, "test", experienceId, { name: "Sale", priority: 0 })
  return { ...tenant, experienceId, sequenceId }
})

/** Creates a mechanism of the sequence at an instant, with these recorded events. */
const aMechanism = Effect.fnUntraced(function* <K extends Kind>(
  sequence: Effect.Success<ReturnType<typeof aSequence>>,
  kind: K,
  configuration: ConfigurationOf<K>,
  more: { readonly createdAt?: number; readonly archived?: boolean; readonly teardown?: "pending" | "completed" } = {}
) {
  const journal = yield* Journal
  const id = randomUUID()
  const creation = creationOf({ ...sequence, id, kind }, configuration, "test", more.createdAt ?? now)
  const { record } = creation.commit
  const status = { ...record.status, teardownStatus: more.teardown ?? null }
  const changed = { ...record, status, archived: more.archived ?? false }
  yield* journal.create([{ ...creation, commit: { ...creation.commit, record: changed } }])
  return id
})

const waitlist = { name: "Waitlist", timeZone: "UTC" }
const release = (openAt?: number) => ({
  name: "Release",
  timeZone: "UTC",
  supportsGuest: true,
  ...(openAt !== undefined && { openAt })
})

const services = Layer.provideMerge(Waitlists.layer, records)

describe("The data for waitlists in Postgres", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("contains the earliest opening of the other mechanisms of the sequence that open or are open", () =>
      Effect.gen(function* () {
        const waitlists = yield* Waitlists
        const sequence = yield* aSequence(yield* aTenant())
        const { experienceId: _, ...ref } = sequence
        const id = yield* aMechanism(sequence, "waitlist", waitlist)
        const opensAt = Effect.map(waitlists.openings(ref), (openings) => {
          assert.deepStrictEqual(openings, [{ ...ref, waitlistId: id, opensAt: openings[0]!.opensAt }])
          return openings[0]!.opensAt
        })
        assert.isUndefined(yield* opensAt)
        yield* aMechanism(sequence, "timed_release", release(at(1)), { archived: true })
        yield* aMechanism(sequence, "timed_release", release(at(1)), { teardown: "pending" })
        yield* aMechanism(sequence, "timed_release", release(at(1)), { teardown: "completed" })
        yield* aMechanism(yield* aSequence(ref), "timed_release", release(at(1)))
        assert.isUndefined(yield* opensAt)
        yield* aMechanism(sequence, "timed_release", release(at(30)))
        assert.strictEqual(yield* opensAt, at(30))
        yield* aMechanism(sequence, "queue", byHand, { createdAt: at(20) })
        assert.strictEqual(yield* opensAt, at(20))
        yield* aMechanism(sequence, "queue", { ...byHand, openAt: at(10) }, { createdAt: at(-10) })
        assert.strictEqual(yield* opensAt, at(10))
      })
    )

    it.effect("contains the waitlists that are still running, of one sequence or of all", () =>
      Effect.gen(function* () {
        const waitlists = yield* Waitlists
        const tenant = yield* aTenant()
        const sequence = yield* aSequence(tenant)
        const other = yield* aSequence(inTestMode(tenant))
        const [first, second] = [
          yield* aMechanism(sequence, "waitlist", waitlist),
          yield* aMechanism(sequence, "waitlist", waitlist, { teardown: "pending" })
        ]
        const elsewhere = yield* aMechanism(other, "waitlist", waitlist)
        yield* aMechanism(sequence, "waitlist", waitlist, { teardown: "completed" })
        yield* aMechanism(sequence, "waitlist", waitlist, { archived: true })
        const found = (of?: typeof sequence) =>
          Effect.map(waitlists.openings(of), (openings) => openings.map(({ waitlistId }) => waitlistId))
        assert.sameMembers(yield* found(sequence), [first, second])
        assert.sameMembers(yield* found(other), [elsewhere])
        assert.deepStrictEqual(yield* found({ ...sequence, mode: "test" }), [])
        assert.includeMembers(yield* found(), [first, second, elsewhere])
      })
    )

    it.effect("contains the addresses of the tenant's consumers alone", () =>
      Effect.gen(function* () {
        const waitlists = yield* Waitlists
        const tenant = yield* aTenant()
        const sequence = yield* aSequence(tenant)
        const id = yield* aMechanism(sequence, "waitlist", waitlist)
        const ada = yield* aConsumer(tenant, { email: "ada@example.com", phone: "+4915112345678" })
        const bob = yield* aConsumer(tenant)
        const strangers = [
          yield* aConsumer(tenant, { email: "gone@example.com", archived: true }),
          yield* aConsumer(inTestMode(tenant), { email: "test@example.com" }),
          yield* aConsumer(yield* aTenant(), { email: "stranger@example.com" }),
          randomUUID()
        ]
        const everyone = [ada, bob, ...strangers]
        const found = yield* waitlists.recipients(tenant, id, everyone)
        assert.sameDeepMembers(
          [...found],
          [
            { consumerId: ada, email: "ada@example.com", phone: "+4915112345678", experience: "Drop" },
            { consumerId: bob, email: null, phone: null, experience: "Drop" }
          ]
        )
        for (const other of [inTestMode(tenant), yield* aTenant()]) {
          assert.deepStrictEqual(yield* waitlists.recipients(other, id, everyone), [])
        }
      })
    )
  })
})
