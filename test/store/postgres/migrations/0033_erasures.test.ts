/** The effect on consumers that were there before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { addOrganization, databaseAt, organizationId } from "./earlierSchema.ts"

describe("Step 0033", () => {
  it.live("leaves consumers as they are, and their changes in the journal of the tenant", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(31)
      yield* addOrganization(sql, {})
      const id = randomUUID()
      yield* sql`
        insert into consumers (id, organization_id, mode, type, email, created_at)
        values (${id}, ${organizationId}, 'live', 'authenticated', 'ann@example.com', now())`
      assert.include(yield* migrate, 33)
      assert.deepStrictEqual(yield* sql`select email, erased_at from consumers`, [
        { email: "ann@example.com", erased_at: null }
      ])
      yield* sql`update consumers set email = 'bea@example.com' where id = ${id}`
      yield* sql`update consumers set archived = true where id = ${id}`
      yield* sql`update consumers set email = null, erased_at = now() where id = ${id}`
      assert.deepStrictEqual(
        (yield* sql<{
          readonly type: string
        }>`select type from tenant_events where subject_id = ${id} order by sequence`).map(({ type }) => type),
        ["consumer.created", "consumer.updated", "consumer.archived", "consumer.erased"]
      )
    })
  )
})
