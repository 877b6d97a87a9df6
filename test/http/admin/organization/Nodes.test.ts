/** The nodes resource on the Admin API. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Admin, aQueue, layer as adminLayer } from "../adminFixture.ts"

describe("The nodes on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are this process with the organization's own mechanisms, if no other process uses the database", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const brand = yield* organization()
        const other = yield* organization()
        yield* aQueue({}, brand)
        yield* aQueue({}, brand)
        yield* aQueue({}, other)
        const { status, body } = yield* call("GET", "/nodes", undefined, brand)
        assert.strictEqual(status, 200)
        const { startedAt, heardAt, ...node } = body.data[0]
        assert.deepStrictEqual(node, { name: "test", shards: null, mechanisms: 2 })
        assert.isTrue(Date.parse(startedAt) <= Date.parse(heardAt))
        assert.deepStrictEqual(body.parkedMechanisms, [])
        assert.isNull(body.oldestOverdueWakeUpAt)
      })
    )

    it.effect("show parked mechanisms and overdue wake-ups to their organization alone", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const brand = yield* organization()
        const other = yield* organization()
        const { id, experienceId } = yield* aQueue({}, brand)
        yield* sql`
          insert into parked_mechanisms (mechanism_id, node, parked_at, restarts, cause)
          values (${id}, 'elsewhere', '2026-11-21T18:00:00Z', 5, 'a secret of the installation')`
        yield* sql`update mechanism_heads set wake_at = '2026-11-21T17:00:00Z' where mechanism_id = ${id}`
        const { body } = yield* call("GET", "/nodes", undefined, brand)
        assert.deepStrictEqual(body.parkedMechanisms, [
          {
            distributionId: id,
            type: "queue",
            experienceId,
            name: "Line",
            node: "elsewhere",
            parkedAt: "2026-11-21T18:00:00.000Z",
            restarts: 5
          }
        ])
        assert.strictEqual(body.oldestOverdueWakeUpAt, "2026-11-21T17:00:00.000Z")
        const stranger = (yield* call("GET", "/nodes", undefined, other)).body
        assert.deepStrictEqual([stranger.parkedMechanisms, stranger.oldestOverdueWakeUpAt], [[], null])
        yield* sql`update mechanism_heads set wake_at = null where mechanism_id = ${id}`
      })
    )
  })
})
