/** The effect on totals that were summed across currencies. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import foundation from "../../../../src/store/postgres/migrations/0001_foundation.ts"
import sessions from "../../../../src/store/postgres/migrations/0002_sessions.ts"
import audiences from "../../../../src/store/postgres/migrations/0003_audiences.ts"
import search from "../../../../src/store/postgres/migrations/0004_search.ts"
import experiencePages from "../../../../src/store/postgres/migrations/0006_experiencePages.ts"
import consumers from "../../../../src/store/postgres/migrations/0007_consumers.ts"
import orders from "../../../../src/store/postgres/migrations/0008_orders.ts"
import salesAndPages from "../../../../src/store/postgres/migrations/0018_salesAndPages.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const anyId = (last: number) => `0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b${last}`

const [euros, dollars] = [anyId(10), anyId(11)]

describe("Step 0018", () => {
  it.live("splits consumers' totals by currency, and compares consumers in the organization's own currency", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      for (const step of [foundation, sessions, audiences, search, experiencePages, consumers, orders]) {
        yield* Effect.provideService(step, SqlClient.SqlClient, sql)
      }
      yield* sql`
        insert into organizations values
          (${euros}, 'Brand', 'growth', '{"currencyCode": "EUR"}', now()), (${dollars}, 'Brand', 'growth', '{}', now())`
      const consumer = (last: number, organizationId: string, total: string) =>
        sql`insert into consumers ${sql.insert({
          id: anyId(last),
          organization_id: organizationId,
          mode: "live",
          type: "guest",
          total_order_value: total,
          created_at: new Date(1_700_000_000_000 + last)
        })}`
      let orderCount = 30
      const order = (last: number, organizationId: string, total: string, currencyCode: string, status = "PAID") =>
        sql`
          insert into orders (id, organization_id, mode, consumer_id, status, currency_code, total, record, placed_at,
            created_at, created_by, updated_at, updated_by)
          values (${anyId(orderCount++)}, ${organizationId}, 'live', ${anyId(last)}, ${status}, ${currencyCode},
            ${total}::numeric, '{"items": []}', now(), now(), 'x', now(), 'x')`
      yield* consumer(20, euros, "45.5")
      yield* order(20, euros, "19.90", "EUR")
      yield* order(20, euros, "20.60", "EUR")
      yield* order(20, euros, "5", "USD")
      yield* order(20, euros, "100", "USD", "CANCELLED")
      yield* consumer(21, dollars, "7")
      yield* order(21, dollars, "7", "JPY")
      yield* order(21, dollars, "0", "USD")
      yield* consumer(22, dollars, "0")
      yield* order(22, dollars, "9", "USD", "CANCELLED")
      yield* Effect.provideService(salesAndPages, SqlClient.SqlClient, sql)
      const rows =
        yield* sql`select order_totals, trim_scale(total_order_value)::text as value from consumers order by id`
      assert.deepStrictEqual(rows, [
        { order_totals: { EUR: "40.5", USD: "5" }, value: "40.5" },
        { order_totals: { JPY: "7" }, value: "0" },
        { order_totals: {}, value: "0" }
      ])
    })
  )
})
