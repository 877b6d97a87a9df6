/** One mailbox is one account. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { OneTimeCodes } from "../../../src/auth/codes/OneTimeCodes.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { aTenant, layer as services } from "../authFixture.ts"

/** Signs in with a code, and returns the session. */
const signIn = Effect.fnUntraced(function* (tenant: Tenant, value: string) {
  const codes = yield* OneTimeCodes
  const address = { channel: "email", value } as const
  const client = "203.0.113.7"
  const code = Redacted.value((yield* codes.request(tenant, address, client)).code)
  return (yield* codes.verify(tenant, { address, code, client })).session
})

layer(services, { excludeTestServices: true })("A mailbox", (it) => {
  it.effect("has one account under all its spellings, which keeps the address that was typed first", () =>
    Effect.gen(function* () {
      const tenant = yield* aTenant
      const first = yield* signIn(tenant, "ada.lovelace+drop@gmail.com")
      assert.strictEqual(first.email, "ada.lovelace+drop@gmail.com")
      for (const spelling of ["adalovelace@gmail.com", "a.d.a.lovelace@googlemail.com", "adalovelace+2@gmail.com"]) {
        const session = yield* signIn(tenant, spelling)
        assert.strictEqual(session.consumerId, first.consumerId)
        assert.strictEqual(session.email, "ada.lovelace+drop@gmail.com")
      }
      const outlook = yield* signIn(tenant, "ada@outlook.com")
      assert.strictEqual((yield* signIn(tenant, "ada+x@outlook.com")).consumerId, outlook.consumerId)
      assert.notStrictEqual((yield* signIn(tenant, "a.da@outlook.com")).consumerId, outlook.consumerId)
    })
  )

  it.effect("of an unknown provider, of another tenant and of an organization that says so is not looked for", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenant = yield* aTenant
      const consumerId = (email: string, of = tenant) => Effect.map(signIn(of, email), (session) => session.consumerId)
      assert.notStrictEqual(yield* consumerId("bob+1@example.com"), yield* consumerId("bob@example.com"))
      const bob = yield* consumerId("bob@gmail.com")
      assert.notStrictEqual(yield* consumerId("b.ob@gmail.com", yield* aTenant), bob)
      yield* sql`
        update organizations set settings = '{"oneAccountPerMailbox": false}' where id = ${tenant.organizationId}`
      assert.notStrictEqual(yield* consumerId("b.ob@gmail.com"), bob)
      yield* sql`update organizations set settings = '{}' where id = ${tenant.organizationId}`
      assert.strictEqual(yield* consumerId("bo.b@gmail.com"), bob)
    })
  )

  it.effect("gets one account from spellings that sign in at the same time", () =>
    Effect.gen(function* () {
      const tenant = yield* aTenant
      const spellings = ["c.arl@gmail.com", "ca.rl@gmail.com", "car.l@gmail.com", "carl+1@gmail.com"]
      const sessions = yield* Effect.forEach(spellings, (spelling) => signIn(tenant, spelling), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(sessions.map(({ consumerId }) => consumerId)).size, 1)
    })
  )
})
