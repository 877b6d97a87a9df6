/** Steering queues: admission, pauses, and what staff say about them. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { admittedByNameMax, noteLengthMax } from "../../../../src/api/admin/SteeringApi.ts"
import { anotherEngine } from "../../../engine/engineFixture.ts"
import { Admin, aQueue, aSequence, enter, issuesOf, layer as adminLayer, oneOfEachKind } from "../adminFixture.ts"

const historyOf = Effect.fnUntraced(function* (id: string, type: string) {
  const { call } = yield* Admin
  const { body } = yield* call("GET", `/distributions/${id}/history?type=${type}&sortDir=asc`)
  return body.data as ReadonlyArray<{ readonly consumerId: string | null; readonly data: any; readonly at: string }>
})

const notesOf = Effect.fnUntraced(function* (id: string) {
  const { call } = yield* Admin
  const { body } = yield* call("GET", `/audit-log?type=distribution.noted&subjectId=${id}&sortDir=asc`)
  return body.data as ReadonlyArray<{ readonly actor: string; readonly after: object }>
})

const viewOf = Effect.fnUntraced(function* (id: string, consumerId: string) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  return yield* engine.view({ kind: "queue", id, tenant: brand.tenant }, consumerId)
})

describe("Admitting through the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("admits the next consumers in the queue's order, with author, reason and note", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const line = yield* enter(id, 3)
        const answer = yield* call("POST", `/queues/${id}/admit`, {
          count: 2,
          reason: "CUSTOMER_CARE",
          note: "Promised on the phone"
        })
        assert.deepStrictEqual(
          [answer.status, answer.body],
          [200, { admitted: 2, consumerIds: line.slice(0, 2), unchanged: 0, refused: 0 }]
        )
        const granted = yield* historyOf(id, "Granted")
        assert.deepStrictEqual(
          granted.map(({ consumerId, data: { reason } }) => [consumerId, reason]),
          line.slice(0, 2).map((consumerId) => [consumerId, "CUSTOMER_CARE"])
        )
        for (const { data } of granted) assert.match(data.by, /^api_key:/)
        const [noted, ...more] = yield* notesOf(id)
        assert.isEmpty(more)
        assert.deepStrictEqual(noted!.after, {
          action: "admit",
          reason: "CUSTOMER_CARE",
          note: "Promised on the phone",
          consumers: 2
        })
        assert.strictEqual(noted!.actor, granted[0]!.data.by)
      })
    )

    it.effect("admits named consumers out of order, and is safe to repeat", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue({ maxAdmissions: 2 })
        const [ada, bob, eve, joe] = (yield* enter(id, 4)) as [string, string, string, string]
        const admit = (...consumerIds: ReadonlyArray<string>) => call("POST", `/queues/${id}/admit`, { consumerIds })
        const named = [joe, bob.toUpperCase(), randomUUID(), joe]
        const first = { admitted: 2, consumerIds: [joe, bob], unchanged: 0, refused: 1 }
        assert.deepStrictEqual((yield* admit(...named)).body, first)
        assert.deepStrictEqual((yield* admit(...named)).body, {
          admitted: 0,
          consumerIds: [],
          unchanged: 2,
          refused: 1
        })
        // No admission is left.
        assert.deepStrictEqual((yield* admit(ada)).body, { admitted: 0, consumerIds: [], unchanged: 0, refused: 1 })
        assert.deepInclude(yield* viewOf(id, eve), { status: "QUEUED", position: 2 })
        assert.isEmpty(yield* notesOf(id))
      })
    )

    it.effect("is refused before the opening by count, after the closing in any form, and for other tenants", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const early = yield* aQueue({ openAt: "2033-01-01T00:00:00Z" })
        const notOpen = yield* call("POST", `/queues/${early.id}/admit`, { count: 1 })
        assert.deepStrictEqual([notOpen.status, notOpen.body.code], [423, "NOT_OPEN"])
        const { id } = yield* aQueue()
        const [waiting] = yield* enter(id, 1)
        for (const other of [stranger, rehearsal]) {
          for (const body of [{ count: 1 }, { consumerIds: [waiting] }]) {
            assert.strictEqual((yield* call("POST", `/queues/${id}/admit`, body, other)).status, 404)
          }
        }
        yield* call("POST", `/queues/${id}/end`)
        for (const body of [{ count: 1 }, { consumerIds: [waiting] }]) {
          const closed = yield* call("POST", `/queues/${id}/admit`, body)
          assert.deepStrictEqual([closed.status, closed.body.code], [409, "CLOSED"])
        }
        assert.isEmpty(yield* historyOf(id, "Granted"))
      })
    )

    it.effect("refuses bodies out of bounds", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const ids = Array.from({ length: admittedByNameMax + 1 }, () => randomUUID())
        const bodies: ReadonlyArray<object> = [
          {},
          { count: 0 },
          { count: 10_001 },
          { count: 1, consumerIds: [ids[0]] },
          { consumerIds: [] },
          { consumerIds: ids },
          { consumerIds: ["ada"] },
          { count: 1, reason: "BORED" },
          { count: 1, note: "" },
          { count: 1, note: "x".repeat(noteLengthMax + 1) }
        ]
        for (const body of bodies) {
          const answer = yield* call("POST", `/queues/${id}/admit`, body)
          assert.isNotEmpty(issuesOf(answer), JSON.stringify(body).slice(0, 100))
        }
      })
    )

    it.effect("admits once for requests that share an idempotency key", () =>
      Effect.gen(function* () {
        const { url, brand } = yield* Admin
        const { id } = yield* aQueue()
        yield* enter(id, 3)
        const send = Effect.promise(async () => {
          const response = await fetch(`${url}/api/queues/${id}/admit`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${brand.key}`,
              "content-type": "application/json",
              "idempotency-key": `admit-${id}`
            },
            body: JSON.stringify({ count: 1, note: "Once" })
          })
          return (await response.json()) as { readonly admitted: number }
        })
        assert.deepStrictEqual(yield* send, yield* send)
        assert.lengthOf(yield* historyOf(id, "Granted"), 1)
        assert.lengthOf(yield* notesOf(id), 1)
      })
    )
  })
})

describe("Pausing a queue through the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("stops the rate, is shown on the record, in the audit log and to waiting consumers, and is resumed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue({ admitRate: 1, maxAdmissions: 1 })
        const pause = yield* call("POST", `/queues/${id}/pause`, { reason: "TECHNICAL_PROBLEM", note: "Shop is down" })
        assert.strictEqual(pause.status, 200, pause.text)
        const { pausedAt, pausedBy, pauseReason, updatedBy } = pause.body
        assert.deepStrictEqual([pauseReason, pausedBy], ["TECHNICAL_PROBLEM", updatedBy])
        assert.match(pausedAt, /Z$/)
        assert.deepInclude((yield* call("GET", `/distributions/${id}`)).body, { pausedAt, pausedBy, pauseReason })

        const [consumerId] = yield* enter(id, 1)
        const view = yield* viewOf(id, consumerId!)
        assert.deepInclude(view, { status: "QUEUED", position: 1, paused: true })
        assert.notProperty(view, "estimatedWaitTimeInSeconds")

        const [paused] = yield* historyOf(id, "Paused")
        assert.deepStrictEqual([paused!.at, paused!.data], [pausedAt, { by: pausedBy, reason: "TECHNICAL_PROBLEM" }])
        const [noted] = yield* notesOf(id)
        assert.deepStrictEqual(noted!.after, { action: "pause", reason: "TECHNICAL_PROBLEM", note: "Shop is down" })
        const { data: changes } = (yield* call("GET", `/audit-log?type=distribution.updated&subjectId=${id}`)).body
        assert.deepInclude(changes[0], { actor: pausedBy, changed: ["pauseReason", "pausedAt", "pausedBy"] })

        const resumed = yield* call("POST", `/queues/${id}/resume`)
        assert.deepInclude(resumed.body, { pausedAt: null, pausedBy: null, pauseReason: null })
        assert.strictEqual((yield* viewOf(id, consumerId!)).status, "GRANTED")
        assert.deepStrictEqual(
          (yield* historyOf(id, "Resumed")).map(({ data }) => data),
          [{ by: pausedBy }]
        )
      })
    )

    it.effect("changes nothing twice, and outlasts a restart", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id } = yield* aQueue({ admitRate: 60_000 })
        yield* call("POST", `/queues/${id}/resume`, {})
        const first = yield* call("POST", `/queues/${id}/pause`, null)
        assert.deepStrictEqual((yield* call("POST", `/queues/${id}/pause`, { reason: "OTHER" })).body, first.body)
        assert.lengthOf(yield* historyOf(id, "Paused"), 1)
        assert.isEmpty(yield* historyOf(id, "Resumed"))
        const [consumerId] = yield* enter(id, 1)
        const { engine, close } = yield* anotherEngine("another")
        const view = yield* engine.view({ kind: "queue", id, tenant: brand.tenant }, consumerId!)
        yield* close
        assert.deepInclude(view, { status: "QUEUED", paused: true })
      })
    )

    it.effect("is refused for a closed queue, for another kind, and for other tenants", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id } = yield* aQueue()
        const { id: sequenceId } = yield* aSequence()
        const { body: draw } = yield* call("POST", "/draws", {
          name: "Raffle",
          sequenceId,
          drawAt: "2033-01-01T00:00:00Z",
          winnerCount: 1
        })
        for (const action of ["pause", "resume"]) {
          for (const other of [stranger, rehearsal]) {
            assert.strictEqual((yield* call("POST", `/queues/${id}/${action}`, undefined, other)).status, 404)
          }
          assert.strictEqual((yield* call("POST", `/queues/${draw.id}/${action}`)).status, 404)
        }
        yield* call("POST", `/queues/${id}/end`)
        for (const action of ["pause", "resume"]) {
          const { status, body } = yield* call("POST", `/queues/${id}/${action}`, { note: "Too late" })
          assert.deepStrictEqual([status, body.code], [409, "CLOSED"])
        }
        assert.isEmpty(yield* notesOf(id))
      })
    )
  })
})

describe("Ending and denying with a reason", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("records why a mechanism of any kind was ended, and keeps the note", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: sequenceId } = yield* aSequence()
        for (const [path, settings] of oneOfEachKind) {
          const { id } = (yield* call("POST", path, { name: "Any", sequenceId, ...settings })).body
          const why = { reason: "SCHEDULE_CHANGED", note: "Moved to Friday" }
          const ended = yield* call("POST", `${path}/${id}/end`, why)
          assert.strictEqual(ended.body.statusOverride, "ended", ended.text)
          const [event] = yield* historyOf(id, "Ended")
          assert.deepInclude(event!.data, { reason: "SCHEDULE_CHANGED" })
          assert.deepStrictEqual(
            (yield* notesOf(id)).map(({ after }) => after),
            [{ action: "end", ...why }]
          )
        }
      })
    )

    it.effect("records why a queue's rate was changed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const why = { reason: "HIGH_LOAD", note: "Checkout is slow" }
        const changed = yield* call("PUT", `/queues/${id}`, { admitRate: 30, ...why })
        assert.deepStrictEqual([changed.status, changed.body.admitRate], [200, 30])
        assert.notProperty(changed.body, "note")
        const [first, second] = yield* historyOf(id, "Configured")
        assert.notProperty(first!.data, "reason")
        assert.strictEqual(second!.data.reason, "HIGH_LOAD")
        assert.deepStrictEqual(
          (yield* notesOf(id)).map(({ after }) => after),
          [{ action: "change", ...why }]
        )
        assert.isNotEmpty(issuesOf(yield* call("PUT", `/queues/${id}`, { reason: "BORED" })))
      })
    )

    it.effect("still ends without a body", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        assert.strictEqual((yield* call("POST", `/queues/${id}/end`)).body.statusOverride, "ended")
        const [event] = yield* historyOf(id, "Ended")
        assert.deepStrictEqual(Object.keys(event!.data), ["by"])
      })
    )

    it.effect("keeps the note of a denial", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const consumerIds = yield* enter(id, 2)
        const deny = { consumerIds, reason: "BOT_DETECTED", note: "Same script" }
        yield* call("POST", `/distributions/${id}/deny`, deny)
        assert.deepStrictEqual(
          (yield* notesOf(id)).map(({ after }) => after),
          [{ action: "deny", reason: "BOT_DETECTED", note: "Same script", consumers: 2 }]
        )
      })
    )
  })
})
