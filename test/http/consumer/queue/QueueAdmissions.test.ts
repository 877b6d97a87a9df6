/** Admission of the next consumers of a queue by count, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { admissionsAtOnceMax } from "../../../../src/domain/queue/Protocol.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { anotherEngine } from "../../../engine/engineFixture.ts"
import { asServer, layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { soon } from "../mechanism/mechanismFixture.ts"
import { inQueue } from "./queueFixture.ts"

/** Creates a queue in which so many consumers wait, in this order. */
const aLine = Effect.fnUntraced(function* (count: number, settings: object = {}) {
  const { guest, queue } = yield* Usher
  const id = yield* queue(settings)
  const line = yield* inQueue(id)
  const guests = yield* Effect.replicateEffect(guest(), count)
  for (const one of guests) yield* line.enter(one)
  return { id, ...line, guests, consumerIds: guests.map(({ consumerId }) => consumerId) }
})

const ref = Effect.fnUntraced(function* (id: string) {
  const { brand } = yield* Usher
  return { kind: "queue", id, tenant: { organizationId: brand.organizationId, mode: "live" } } as const
})

describe("Admitting by count", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("admits the next consumers in the queue's order, and returns their ids", () =>
      Effect.gen(function* () {
        const { admit, status, guests, consumerIds } = yield* aLine(4)
        const first = yield* admit({ count: 3 })
        assert.deepStrictEqual([first.status, first.body], [200, { admitted: 3, consumerIds: consumerIds.slice(0, 3) }])
        for (const guest of guests.slice(0, 3)) {
          const { body } = yield* status(guest)
          assert.strictEqual(body.status, "GRANTED")
          assert.isString(body.admissionGrant)
        }
        assert.deepInclude((yield* status(guests[3]!)).body, { status: "QUEUED", position: 1 })
        const rest = yield* admit({ count: 3, consumerId: null })
        assert.deepStrictEqual(rest.body, { admitted: 1, consumerIds: consumerIds.slice(3) })
        assert.deepStrictEqual((yield* admit({ count: 1 })).body, { admitted: 0, consumerIds: [] })
      })
    )

    it.effect("is recorded like an admission by name", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const { id, admit, consumerIds } = yield* aLine(2)
        yield* admit({ consumerId: consumerIds[0] })
        yield* admit({ count: 1 })
        const path = `/api/distributions/${id}/history?type=Granted`
        const { data } = (yield* admin({ path, headers: asServer(brand.secretKey) })).body
        assert.deepStrictEqual(
          data.map(({ consumerId }: { consumerId: string }) => consumerId),
          consumerIds
        )
        assert.deepStrictEqual(data[1].data, data[0].data)
      })
    )

    it.effect("never exceeds maxAdmissions, also with many simultaneous requests", () =>
      Effect.gen(function* () {
        const { admit, consumerIds } = yield* aLine(9, { maxAdmissions: 7 })
        const answers = yield* Effect.all(
          Array.from({ length: 6 }, () => admit({ count: 2 })),
          { concurrency: "unbounded" }
        )
        const admitted = answers.flatMap(({ status, body }) => (status === 200 ? body.consumerIds : []))
        assert.sameMembers(admitted, consumerIds.slice(0, 7))
        assert.lengthOf(new Set(admitted), 7)
        const { status, body } = yield* admit({ count: 1 })
        assert.deepStrictEqual([status, body.code], [409, "ADMISSIONS_USED_UP"])
      })
    )

    it.effect("is refused before the queue opens, also while the lobby fills, and after it has closed", () =>
      Effect.gen(function* () {
        const { admin, brand, guest, queue } = yield* Usher
        const openAt = soon(3_600)
        const early = yield* inQueue(yield* queue({ openAt }))
        const lobby = yield* inQueue(yield* queue({ openAt, lobbyOpenAt: soon(-1) }))
        const someone = yield* guest()
        yield* lobby.enter(someone)
        for (const line of [early, lobby]) {
          const { status, body, headers } = yield* line.admit({ count: 1 })
          assert.deepStrictEqual(
            [status, body],
            [423, { error: "Queue is not open yet", code: "NOT_OPEN", opensAt: openAt }]
          )
          assert.isAtLeast(Number(headers["retry-after"]), 3_500)
        }
        assert.strictEqual((yield* lobby.status(someone)).body.status, "QUEUED")
        const { id, admit } = yield* aLine(1)
        yield* admin({ method: "POST", path: `/api/queues/${id}/end`, headers: asServer(brand.secretKey) })
        const closed = yield* admit({ count: 1 })
        assert.deepStrictEqual([closed.status, closed.body.code], [409, "CLOSED"])
      })
    )

    it.effect("accepts either a consumer or a count, and names the mistakes of any other body", () =>
      Effect.gen(function* () {
        const { admit, status, guests, consumerIds } = yield* aLine(1)
        const [consumerId] = consumerIds
        const mistakes: ReadonlyArray<readonly [object, string]> = [
          [{}, "consumerId: string"],
          [{ consumerId, count: 1 }, "count: picklist"],
          [{ consumerId, count: "many" }, "count: picklist"],
          [{ count: 0 }, "count: min_value"],
          [{ count: admissionsAtOnceMax + 1 }, "count: max_value"],
          [{ count: 1.5 }, "count: integer"],
          [{ count: "1" }, "count: number"],
          [{ count: null }, "count: number"],
          [{ consumerId: "x" }, "consumerId: uuid"]
        ]
        for (const [body, issue] of mistakes) {
          const refused = yield* admit(body)
          assert.strictEqual(refused.status, 400, JSON.stringify(body))
          const { path, type } = refused.body.issues[0]
          assert.strictEqual(`${path[0].key}: ${type}`, issue, JSON.stringify(body))
        }
        assert.strictEqual((yield* status(guests[0]!)).body.status, "QUEUED")
      })
    )

    it.effect("admits the maximum of one request, each once and in order, also after a restart", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const engine = yield* Engine
        const { queue } = yield* Usher
        const id = yield* queue()
        const line = yield* ref(id)
        const consumerIds = Array.from({ length: admissionsAtOnceMax + 1 }, () => randomUUID() as string)
        yield* Effect.forEach(
          consumerIds,
          (consumerId) => engine.send(line, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 }),
          { concurrency: "unbounded", discard: true }
        )
        const { admit } = yield* inQueue(id)
        const { status, body } = yield* admit({ count: admissionsAtOnceMax })
        assert.deepStrictEqual([status, body.admitted], [200, admissionsAtOnceMax])
        assert.deepStrictEqual(body.consumerIds, consumerIds.slice(0, -1))
        const granted = yield* sql<{ readonly consumer_id: string }>`
          select consumer_id from journal where mechanism_id = ${id} and type = 'Granted' order by sequence`
        assert.deepStrictEqual(
          granted.map(({ consumer_id }) => consumer_id),
          body.consumerIds
        )
        const restarted = yield* anotherEngine("restarted")
        assert.strictEqual((yield* restarted.engine.view(line, consumerIds[0]!)).status, "GRANTED")
        assert.deepInclude(yield* restarted.engine.view(line, consumerIds.at(-1)!), { status: "QUEUED", position: 1 })
        yield* restarted.close
      })
    )
  })
})
