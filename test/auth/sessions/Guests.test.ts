/** Guests that arrive at the same time, whose rows share a statement. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, References } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { createdAtOf } from "../../../src/domain/values/Ids.ts"
import { aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"

describe("A guest", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "that the database refuses fails alone, and all that arrive with it are stored when they are answered",
      () =>
        Effect.gen(function* () {
          const sessions = yield* Sessions
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* aTenant
          const unknown = { ...tenant, organizationId: randomUUID() }
          const tenants = Array.from({ length: 24 }, (_, index) => (index === 13 ? unknown : tenant))
          const exits = yield* Effect.all(
            tenants.map((tenant) =>
              Effect.exit(
                Effect.tap(sessions.guest(tenant), ({ session }) =>
                  Effect.map(sql`select 1 from sessions where consumer_id = ${session.consumerId}`, (rows) =>
                    assert.strictEqual(rows.length, 1)
                  )
                )
              )
            ),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            exits.flatMap((exit, index) => (Exit.isFailure(exit) ? [index] : [])),
            [13]
          )
        }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    )

    it.effect("has ids of its own, which are UUIDs of version 7 and tell when it came", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const guest = Effect.flatMap(Sessions, (sessions) => sessions.guest(tenant))
        yield* Effect.all(
          Array.from({ length: 50 }, () => guest),
          { concurrency: "unbounded" }
        )
        const rows = yield* sql<{ id: string; consumer_id: string; created_at: Date }>`
          select id, consumer_id, created_at from sessions where organization_id = ${tenant.organizationId}`
        const ids = rows.flatMap((row) => [row.id, row.consumer_id])
        assert.strictEqual(new Set(ids).size, 100)
        for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        for (const row of rows) {
          for (const id of [row.id, row.consumer_id]) assert.strictEqual(createdAtOf(id), row.created_at.getTime())
        }
      })
    )
  })
})
