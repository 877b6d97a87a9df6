/** The effect on rows from before sessions could be refreshed and addresses were unique. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import foundation from "../../../../src/store/postgres/migrations/0001_foundation.ts"
import sessions from "../../../../src/store/postgres/migrations/0002_sessions.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const organizationId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const anyId = (last: number) => `0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b0${last}`

describe("Step 0002", () => {
  it.live("keeps older sessions and consumers; of consumers that share an address the oldest keeps it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      yield* Effect.provideService(foundation, SqlClient.SqlClient, sql)
      yield* sql`insert into organizations values (${organizationId}, 'Brand', 'growth', '{}', now())`
      const consumer = (last: number, row: object) =>
        sql`insert into consumers ${sql.insert({
          id: anyId(last),
          organization_id: organizationId,
          mode: "live",
          type: "authenticated",
          created_at: new Date(1_700_000_000_000 + last),
          ...row
        })}`
      yield* consumer(1, { email: " Ann@Example.com", phone: "+4915112345678" })
      yield* consumer(2, { email: "ann@example.com" })
      yield* consumer(3, { email: "ANN@EXAMPLE.COM", mode: "test" })
      yield* consumer(4, { email: "ann@example.com", archived: true })
      yield* consumer(5, { email: "bob@example.com", phone: "+4915112345678" })
      yield* consumer(6, { type: "guest" })
      yield* sql`
        insert into sessions (id, consumer_id, organization_id, mode, type, refresh_hash, created_at, expires_at)
        values (${anyId(7)}, ${anyId(6)}, ${organizationId}, 'live', 'guest', 'x', now(), now() + interval '30 days')`
      yield* Effect.provideService(sessions, SqlClient.SqlClient, sql)
      const rows = yield* sql`select email, phone from consumers order by id`
      assert.deepStrictEqual(rows, [
        { email: "ann@example.com", phone: "+4915112345678" },
        { email: null, phone: null },
        { email: "ann@example.com", phone: null },
        { email: "ann@example.com", phone: null },
        { email: "bob@example.com", phone: null },
        { email: null, phone: null }
      ])
      const kept = yield* sql`select access_expires_at = expires_at as known from sessions`
      assert.deepStrictEqual(kept, [{ known: true }])
      const [secret] = yield* sql<{ bytes: number }>`select length(secret) as bytes from server_secrets`
      assert.strictEqual(secret!.bytes, 32)
    })
  )
})
