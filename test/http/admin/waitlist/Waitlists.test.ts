import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aQueue, aSequence, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const aWaitlist = Effect.fnUntraced(function* (settings: { readonly [name: string]: unknown } = {}) {
  const { call } = yield* Admin
  const sequenceId = settings["sequenceId"] ?? (yield* aSequence()).id
  return (yield* call("POST", "/waitlists", { name: "Waitlist", ...settings, sequenceId })).body
})

/** Enters consumers, one after the other, and returns their ids. */
const enter = Effect.fnUntraced(function* (id: string, count: number) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const waitlist = { kind: "waitlist", id, tenant: brand.tenant } as const
  return yield* Effect.forEach(
    Array.from({ length: count }, () => randomUUID() as string),
    (consumerId) => Effect.as(engine.send(waitlist, { _tag: "Enter", consumerId }), consumerId)
  )
})

/** Returns the times for which the notice was scheduled, from the history, oldest first. Null means never. */
const schedules = Effect.fnUntraced(function* (id: string) {
  const { call } = yield* Admin
  const { data } = (yield* call("GET", `/distributions/${id}/history?type=NoticeScheduled&sortDir=asc`)).body
  return data.map((entry: { readonly data: { readonly noticeAt?: string } }) => entry.data.noticeAt ?? null)
})

describe("Waitlists on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a name alone, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: sequenceId, experienceId } = yield* aSequence()
        // The sequence is open. The notification of the waitlist does not change its record.
        yield* aQueue({ sequenceId })
        const { status, body } = yield* call("POST", "/waitlists", { sequenceId, name: "Waitlist" })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId,
          sequenceId,
          name: "Waitlist",
          timeZone: "UTC",
          openAt: null,
          closeAt: null,
          capacity: null,
          supportsGuest: true,
          offers: false,
          admissionExpirationSeconds: null,
          stockId: null,
          statusOverride: null,
          statusOverrideAt: null,
          statusOverrideBy: null,
          teardownStatus: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/waitlists/${id}`)).body, body)
      })
    )

    it.effect("refuse malformed fields, name every mistake, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, sequenceId } = yield* aWaitlist({ capacity: 5 })
        const before = (yield* call("GET", `/waitlists/${id}`)).text
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ openAt: inDays(2), closeAt: inDays(1) }, ["closeAt: date_time"]],
          [{ capacity: 0 }, ["capacity: min_value"]],
          [{ capacity: "many" }, ["capacity: number"]],
          [{ timeZone: "Nowhere", name: "" }, ["name: min_length", "timeZone: picklist"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const creation = yield* call("POST", "/waitlists", { sequenceId, name: "Waitlist", ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, `POST ${JSON.stringify(mistake)}`)
          const change = yield* call("PUT", `/waitlists/${id}`, mistake)
          assert.deepStrictEqual(issuesOf(change), expected, `PUT ${JSON.stringify(mistake)}`)
        }
        assert.strictEqual((yield* call("GET", `/waitlists/${id}`)).text, before)
        const changed = yield* call("PUT", `/waitlists/${id}`, { capacity: null, name: "Another" })
        assert.deepInclude(changed.body, { capacity: null, name: "Another" })
      })
    )

    it.effect("are limited to one per sequence, whichever operation creates them, until that one is archived", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const exists = [409, { error: "Sequence has a waitlist already", code: "WAITLIST_EXISTS" }]
        const second = (sequenceId: string) =>
          Effect.map(call("POST", "/waitlists", { sequenceId, name: "Second" }), ({ status, body }) =>
            status === 201 ? [status] : [status, body]
          )
        const { id, sequenceId } = yield* aWaitlist()
        assert.deepStrictEqual(yield* second(sequenceId), exists)
        yield* call("POST", `/waitlists/${id}/end`)
        assert.deepStrictEqual(yield* second(sequenceId), exists)
        yield* call("DELETE", `/waitlists/${id}`)
        assert.deepStrictEqual(yield* second(sequenceId), [201])

        const sequences = [{ name: "S", waitlist: { name: "W" } }]
        const whole = (yield* call("POST", "/experiences", { name: "E", sequences })).body
        const { body } = yield* call("POST", "/sequences", { experienceId: whole.id, ...sequences[0] })
        const copy = (yield* call("POST", `/experiences/${whole.id}/duplicate`, {})).body
        for (const held of [whole.sequences[0], body, ...copy.sequences]) {
          assert.deepStrictEqual(yield* second(held.id), exists)
        }
        const { data } = (yield* call("GET", `/waitlists?experienceId=${whole.id}`)).body
        assert.lengthOf(data, 2)
      })
    )

    it.effect("are limited to one per sequence under simultaneous creation, while other mechanisms are created", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (let round = 0; round < 5; round++) {
          const { id: sequenceId } = yield* aSequence()
          const answers = yield* Effect.forEach(
            Array.from({ length: 16 }, (_, index) => index),
            (index) =>
              index % 4 === 3
                ? call("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 })
                : call("POST", "/waitlists", { sequenceId, name: "Early" }),
            { concurrency: "unbounded" }
          )
          const codes = answers.map(({ status, body }) => body.code ?? status)
          assert.lengthOf(
            codes.filter((code) => code === 201),
            5
          )
          assert.lengthOf(
            codes.filter((code) => code === "WAITLIST_EXISTS"),
            11
          )
          assert.lengthOf((yield* call("GET", `/waitlists?sequenceId=${sequenceId}`)).body.data, 1)
        }
      })
    )

    it.effect("end at once: waiting consumers are denied", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aWaitlist()
        yield* enter(id, 3)
        const ended = yield* call("POST", `/waitlists/${id}/end`)
        assert.deepInclude(ended.body, { statusOverride: "ended" })
        const torn = yield* eventually(
          call("GET", `/distributions/${id}`),
          ({ body }) => body.teardownStatus === "completed"
        )
        assert.deepInclude(torn.body, { type: "waitlist", lifecycle: "closed" })
        assert.deepStrictEqual(torn.body.live.counts, {
          ENTERED: 0,
          NOTIFIED: 0,
          OFFERED: 0,
          COMPLETED: 0,
          EXPIRED: 0,
          LEFT: 0,
          DENIED: 3
        })
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?status=DENIED`)).body
        assert.deepStrictEqual(
          data.map(({ reason }: { readonly reason: string }) => reason),
          ["WAITLIST_CLOSED", "WAITLIST_CLOSED", "WAITLIST_CLOSED"]
        )
        assert.strictEqual((yield* call("DELETE", `/waitlists/${id}`)).status, 200)
        const gone = yield* call("GET", `/waitlists/${id}`)
        assert.deepStrictEqual([gone.status, gone.body], [404, { error: "Waitlist not found" }])
      })
    )

    it.effect("know the earliest opening of the other mechanisms of their sequence, after every change of these", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const [first, second, third] = [inDays(1), inDays(2), inDays(3)]
        const { id: sequenceId } = yield* aSequence()
        const queue = yield* aQueue({ sequenceId, openAt: third })
        const { id } = yield* aWaitlist({ sequenceId, openAt: first })
        yield* aWaitlist({ sequenceId })
        assert.deepStrictEqual(yield* schedules(id), [third])
        const release = (yield* call("POST", "/timed-releases", { sequenceId, name: "Release", openAt: second })).body
        assert.deepStrictEqual(yield* schedules(id), [third, second])
        yield* call("PUT", `/timed-releases/${release.id}`, { openAt: first })
        yield* call("PUT", `/timed-releases/${release.id}`, { name: "Renamed" })
        yield* call("PUT", `/queues/${queue.id}`, { openAt: second })
        assert.deepStrictEqual(yield* schedules(id), [third, second, first])
        yield* call("POST", `/timed-releases/${release.id}/end`)
        assert.deepStrictEqual(yield* schedules(id), [third, second, first, second])
        yield* call("DELETE", `/queues/${queue.id}`)
        assert.deepStrictEqual(yield* schedules(id), [third, second, first, second, null])
        // A mechanism of another sequence does not count. One without an opening is open from its creation.
        yield* aQueue({ openAt: first })
        assert.lengthOf(yield* schedules(id), 5)
        const open = yield* aQueue({ sequenceId })
        const { createdAt } = (yield* call("GET", `/queues/${open.id}`)).body
        assert.strictEqual((yield* schedules(id)).at(-1), createdAt)
        const due = (yield* call("GET", `/distributions/${id}/history?type=NoticeDue`)).body.data
        assert.lengthOf(due, 1)
      })
    )
  })
})
