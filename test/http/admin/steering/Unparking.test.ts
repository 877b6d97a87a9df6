/** Unparking through the Admin API: a parked mechanism starts again, and the audit log names who did it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../../src/engine/Engine.ts"
import { noteLengthMax } from "../../../../src/api/admin/SteeringApi.ts"
import { correct } from "../../support/brokenQueue.ts"
import {
  Admin,
  aBrokenQueue,
  aQueue,
  aSequence,
  enter,
  eventually,
  issuesOf,
  layer as adminLayer,
  oneOfEachKind,
  type Answer
} from "../adminFixture.ts"

const actionsOn = Effect.fnUntraced(function* (id: string) {
  const { call } = yield* Admin
  const { body } = yield* call("GET", `/audit-log?type=distribution.noted&subjectId=${id}&sortDir=asc`)
  return body.data as ReadonlyArray<{ readonly actor: string; readonly after: object }>
})

/** Waits until the queue is parked. The list of parked mechanisms is written by a worker, which does not run here. */
const parked = Effect.gen(function* () {
  const { call } = yield* Admin
  const sql = yield* SqlClient.SqlClient
  const queue = yield* aBrokenQueue
  const isParked = ({ status, body }: Answer) => status === 200 && body.live.parked
  assert.isTrue(isParked(yield* eventually(call("GET", `/distributions/${queue.id}`), isParked, "2 minutes")))
  yield* sql`
    insert into parked_mechanisms (mechanism_id, node, parked_at, restarts, cause)
    values (${queue.id}, 'test', now(), 5, 'Gibberish')`
  return queue
})

const why = { reason: "TECHNICAL_PROBLEM", note: "The event was corrected" }

describe("Unparking through the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("starts a parked mechanism again once its journal is readable, and records who did it and why", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const { id, consumerId } = yield* parked
        assert.strictEqual((yield* call("POST", `/queues/${id}/pause`)).status, 503)
        yield* correct(id)
        assert.strictEqual((yield* call("POST", `/queues/${id}/pause`)).status, 503)

        const unparked = yield* call("POST", `/queues/${id}/unpark`, why)
        assert.deepStrictEqual([unparked.status, unparked.body.id], [200, id], unparked.text)
        const { live } = (yield* call("GET", `/distributions/${id}`)).body
        assert.deepInclude(live, { lastSequence: 2, node: "test", parked: false })
        const view = yield* engine.view({ kind: "queue", id, tenant: brand.tenant }, consumerId)
        assert.deepInclude(view, { status: "QUEUED", position: 1 })
        yield* enter(id, 1)
        const paused = yield* call("POST", `/queues/${id}/pause`)
        assert.strictEqual(paused.status, 200)
        assert.isEmpty((yield* call("GET", "/nodes")).body.parkedMechanisms)
        const [action, ...more] = yield* actionsOn(id)
        assert.isEmpty(more)
        assert.deepStrictEqual(action!.after, { action: "unpark", ...why })
        assert.strictEqual(action!.actor, paused.body.pausedBy)
      })
    )

    it.effect("parks a mechanism again whose journal is still unreadable, and records each attempt", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* parked
        assert.strictEqual((yield* call("POST", `/queues/${id}/unpark`)).status, 200)
        const again = yield* eventually(call("POST", `/queues/${id}/unpark`, why), ({ status }) => status === 200)
        assert.strictEqual(again.status, 200)
        assert.deepStrictEqual(
          (yield* actionsOn(id)).map(({ after }) => after),
          [{ action: "unpark" }, { action: "unpark", ...why }]
        )
      })
    )

    it.effect("leaves a mechanism of any kind that is not parked as it is, and records nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: sequenceId } = yield* aSequence()
        for (const [path, settings] of oneOfEachKind) {
          const { body } = yield* call("POST", path, { name: "Any", sequenceId, ...settings })
          const unparked = yield* call("POST", `${path}/${body.id}/unpark`, why)
          assert.deepStrictEqual([unparked.status, unparked.body], [200, body], unparked.text)
          assert.isEmpty(yield* actionsOn(body.id))
        }
      })
    )

    it.effect("is refused for other tenants and another kind, which leaves the mechanism parked", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id } = yield* parked
        yield* correct(id)
        for (const other of [stranger, rehearsal]) {
          const refused = yield* call("POST", `/queues/${id}/unpark`, why, other)
          assert.deepStrictEqual([refused.status, refused.body], [404, { error: "Queue not found" }])
        }
        assert.strictEqual((yield* call("POST", `/draws/${id}/unpark`, why)).status, 404)
        assert.isTrue((yield* call("GET", `/distributions/${id}`)).body.live.parked)
        assert.isEmpty(yield* actionsOn(id))
        assert.strictEqual((yield* call("POST", `/queues/${id}/unpark`)).status, 200)
      })
    )

    it.effect("answers 404, and not 503, to the other operations of other tenants", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id } = yield* parked
        for (const other of [stranger, rehearsal]) {
          for (const path of [`/queues/${id}/pause`, `/queues/${id}/resume`, `/queues/${id}/end`]) {
            const refused = yield* call("POST", path, undefined, other)
            assert.deepStrictEqual([refused.status, refused.body], [404, { error: "Queue not found" }], path)
          }
          const admitted = yield* call("POST", `/queues/${id}/admit`, { count: 1 }, other)
          assert.strictEqual(admitted.status, 404, admitted.text)
          assert.strictEqual((yield* call("GET", `/queues/${id}`, undefined, other)).status, 404)
        }
        assert.strictEqual((yield* call("POST", `/queues/${id}/pause`)).status, 503)
      })
    )

    it.effect("refuses a reason that does not exist, and a note out of bounds", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        for (const body of [{ reason: "BORED" }, { note: "" }, { note: "x".repeat(noteLengthMax + 1) }]) {
          assert.isNotEmpty(issuesOf(yield* call("POST", `/queues/${id}/unpark`, body)), JSON.stringify(body))
        }
      })
    )
  })
})
