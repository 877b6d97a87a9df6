/** The effect on consumers and audiences from before organizations could manage them. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import foundation from "../../../../src/store/postgres/migrations/0001_foundation.ts"
import sessions from "../../../../src/store/postgres/migrations/0002_sessions.ts"
import audiences from "../../../../src/store/postgres/migrations/0003_audiences.ts"
import search from "../../../../src/store/postgres/migrations/0004_search.ts"
import consumers from "../../../../src/store/postgres/migrations/0007_consumers.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const organizationId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const anyId = (last: number) => `0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b0${last}`

describe("Step 0007", () => {
  it.live("keeps older consumers and audiences; of consumers that share an external id the oldest keeps it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      for (const step of [foundation, sessions, audiences, search]) {
        yield* Effect.provideService(step, SqlClient.SqlClient, sql)
      }
      yield* sql`insert into organizations values (${organizationId}, 'Brand', 'growth', '{}', now())`
      const consumer = (last: number, row: object) =>
        sql`insert into consumers ${sql.insert({
          id: anyId(last),
          organization_id: organizationId,
          mode: "live",
          type: "guest",
          created_at: new Date(1_700_000_000_000 + last),
          ...row
        })}`
      yield* consumer(1, { external_id: "crm-1", type: "authenticated" })
      yield* consumer(2, { external_id: "crm-1" })
      yield* consumer(3, { external_id: "crm-1", mode: "test" })
      yield* consumer(4, { external_id: "crm-1", archived: true })
      yield* consumer(5, { email: "ann@example.com" })
      yield* sql`
        insert into audiences (id, organization_id, mode, name, type, created_at, created_by, updated_at, updated_by)
        values (${anyId(6)}, ${organizationId}, 'live', 'Friends', 'STATIC', now(), 'x', now(), 'x')`
      yield* Effect.provideService(consumers, SqlClient.SqlClient, sql)
      const rows = yield* sql`select external_id, anonymous, order_count from consumers order by id`
      assert.deepStrictEqual(rows, [
        { external_id: "crm-1", anonymous: false, order_count: 0 },
        { external_id: null, anonymous: true, order_count: 0 },
        { external_id: "crm-1", anonymous: false, order_count: 0 },
        { external_id: "crm-1", anonymous: false, order_count: 0 },
        { external_id: null, anonymous: false, order_count: 0 }
      ])
      assert.deepStrictEqual(yield* sql`select name, rules from audiences`, [{ name: "Friends", rules: null }])
    })
  )
})
