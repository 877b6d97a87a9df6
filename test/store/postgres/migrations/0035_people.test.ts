/** The effect on sessions and codes that were there before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { addOrganization, databaseAt, organizationId } from "./earlierSchema.ts"

describe("Step 0035", () => {
  it.live("keeps sessions and codes, takes codes of people, and ends the sessions of a person that is removed", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(34)
      yield* addOrganization(sql, {})
      const [key, person] = [randomUUID(), randomUUID()]
      const codeFor = (channel: string) => sql`
        insert into one_time_codes (id, organization_id, mode, channel, address, client, hash, sent_at, expires_at)
        values (${randomUUID()}, ${organizationId}, 'live', ${channel}, 'a@b.example', 'c', 'h', now(), now())`
      yield* sql`
        insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
        values (${key}, ${organizationId}, 'live', 'secret', 'h', 'sk…', now())`
      yield* sql`
        insert into operator_sessions (hash, api_key_id, created_at, expires_at) values ('k', ${key}, now(), now())`
      yield* codeFor("email")
      assert.strictEqual((yield* Effect.exit(codeFor("operator")))._tag, "Failure")

      assert.include(yield* migrate, 35)
      yield* codeFor("operator")
      assert.strictEqual((yield* Effect.exit(codeFor("pigeon")))._tag, "Failure")
      yield* sql`
        insert into people (id, organization_id, mode, record, created_at, created_by, updated_at, updated_by, email, role)
        values (${person}, ${organizationId}, 'live', '{}', now(), 'test', now(), 'test', 'a@b.example', 'viewer')`
      yield* sql`
        insert into operator_sessions (hash, person_id, created_at, expires_at) values ('p', ${person}, now(), now())`
      yield* sql`delete from people where id = ${person}`
      assert.deepStrictEqual(yield* sql`select api_key_id from operator_sessions`, [{ api_key_id: key }])
      assert.lengthOf(yield* sql`select id from one_time_codes`, 2)
    })
  )
})
