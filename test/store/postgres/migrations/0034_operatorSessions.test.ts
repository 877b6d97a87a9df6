/** The effect on keys that were there before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { addOrganization, databaseAt, organizationId } from "./earlierSchema.ts"

describe("Step 0034", () => {
  it.live("leaves keys as they are, and ends the sessions of a key that is removed", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(33)
      yield* addOrganization(sql, {})
      const id = randomUUID()
      yield* sql`
        insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
        values (${id}, ${organizationId}, 'live', 'secret', 'h', 'sk…', now())`
      assert.include(yield* migrate, 34)
      yield* sql`
        insert into operator_sessions (hash, api_key_id, created_at, expires_at) values ('s', ${id}, now(), now())`
      yield* sql`delete from api_keys where id = ${id}`
      assert.deepStrictEqual(yield* sql`select * from operator_sessions`, [])
    })
  )
})
