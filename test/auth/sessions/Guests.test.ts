/** Guests that arrive at the same time, whose rows share a statement. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, References } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
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
  })
})
