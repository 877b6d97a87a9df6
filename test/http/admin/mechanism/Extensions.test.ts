/** Extending a mechanism: its grants, and its closing. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { extendedAtOnce } from "../../../../src/domain/mechanism/extension/Extension.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aQueue, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import { placesWritten } from "../../../store/support/placesWritten.ts"

const settings = { admitRate: 0, admissionExpirationSeconds: 600 }

/** Admits so many consumers to a queue. */
const admit = Effect.fnUntraced(function* (id: string, count: number) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const queue = { kind: "queue", id, tenant: brand.tenant } as const
  yield* Effect.forEach(
    Array.from({ length: count }, () => randomUUID()),
    (consumerId) => engine.send(queue, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 }),
    { concurrency: "unbounded" }
  )
  yield* engine.sendAdmin(queue, { _tag: "AdmitNext", count, by: "test" })
})

/** The expiry of each grant, by consumer. */
const expiries = (id: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* placesWritten
    const rows = yield* sql<{ readonly consumer: string; readonly expiresAt: string }>`
      select consumer_id as consumer, fields ->> 'expiresAt' as "expiresAt" from places
      where mechanism_id = ${id} and status = 'GRANTED'`
    return new Map(rows.map(({ consumer, expiresAt }) => [consumer, Date.parse(expiresAt)]))
  })

describe("Extending a mechanism", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("moves every grant once, also more than one command takes, and the closing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const closeAt = "2036-01-01T00:00:00.000Z"
        const { id } = yield* aQueue({ ...settings, closeAt })
        const count = 2 * extendedAtOnce + 7
        yield* admit(id, count)
        const before = yield* expiries(id)
        const answer = yield* call("POST", `/distributions/${id}/extend`, { seconds: 90 })
        assert.deepStrictEqual([answer.status, answer.body], [200, { grants: count }])
        const after = yield* expiries(id)
        assert.strictEqual(after.size, count)
        for (const [consumer, expiresAt] of after) assert.strictEqual(expiresAt, before.get(consumer)! + 90_000)
        const { closeAt: moved } = (yield* call("GET", `/distributions/${id}`)).body
        assert.strictEqual(moved, "2036-01-01T00:01:30.000Z")
        const { body } = yield* call("GET", `/distributions/${id}/history?type=GrantExtended&first=1`)
        assert.match(body.data[0].data.by, /\S/)
        assert.strictEqual(Date.parse(body.data[0].data.expiresAt), after.get(body.data[0].consumerId))
      })
    )

    it.effect("moves earlier times to an instant, so that a repetition changes nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue(settings)
        yield* admit(id, 3)
        const until = new Date(Date.now() + 3_600_000).toISOString()
        const path = `/distributions/${id}/extend`
        assert.deepStrictEqual((yield* call("POST", path, { until })).body, { grants: 3 })
        assert.deepStrictEqual([...(yield* expiries(id)).values()], Array(3).fill(Date.parse(until)))
        assert.deepStrictEqual((yield* call("POST", path, { until })).body, { grants: 0 })
        const past = new Date(0).toISOString()
        assert.deepStrictEqual((yield* call("POST", path, { until: past })).body, { grants: 0 })
      })
    )

    it.effect("refuses a body without an amount, with two, and with one that is too large", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue(settings)
        const far = new Date(Date.now() + 2 * 31_536_000_000).toISOString()
        for (const body of [{}, { seconds: 0 }, { seconds: 31_536_001 }, { seconds: 1, until: far }, { until: far }]) {
          const answer = yield* call("POST", `/distributions/${id}/extend`, body)
          assert.strictEqual(answer.status, 400, answer.text)
          assert.isNotEmpty(issuesOf(answer))
        }
        assert.strictEqual((yield* call("POST", `/distributions/${randomUUID()}/extend`, { seconds: 1 })).status, 404)
      })
    )
  })
})
