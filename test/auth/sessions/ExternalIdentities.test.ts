/** Consumers that their organization's server authenticates. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { removeExpired } from "../../../src/auth/sessions/Expiry.ts"
import { ExternalIdentities } from "../../../src/auth/sessions/ExternalIdentities.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"

const identity = { provider: "shop", issuer: "https://shop.example", subject: "customer-1" }

const authorized = Effect.fnUntraced(function* (tenant: Tenant, claims: object = {}, who = identity) {
  const externals = yield* ExternalIdentities
  const { exchangeCode, resolution } = yield* externals.authorize(tenant, who, { ...claims })
  return { code: Redacted.value(exchangeCode), resolution }
})

const exchanged = (tenant: Tenant, code: string) =>
  Effect.flatMap(ExternalIdentities, (externals) => externals.exchange(tenant, code)).pipe(
    Effect.match({
      onFailure: (error) => (error._tag === "WrongExchangeCode" ? error.reason : error._tag),
      onSuccess: ({ session }) => session
    })
  )

const consumerOf = (session: unknown) => (session as { consumerId: string }).consumerId

const record = (id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql`select email, full_name, name, type from consumers where id = ${id}`, (rows) => rows[0])
  )

describe("An external identity", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is one consumer, created once, also for concurrent requests", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const all = yield* Effect.forEach(Array.from({ length: 20 }), () => authorized(tenant), {
          concurrency: "unbounded"
        })
        assert.strictEqual(all.filter(({ resolution }) => resolution === "created").length, 1)
        const consumers = yield* Effect.forEach(all, ({ code }) => Effect.map(exchanged(tenant, code), consumerOf))
        assert.strictEqual(new Set(consumers).size, 1)
        for (const other of ["provider", "issuer", "subject"]) {
          const { resolution } = yield* authorized(tenant, {}, { ...identity, [other]: "another" })
          assert.strictEqual(resolution, "created")
        }
        assert.strictEqual((yield* authorized({ ...tenant, mode: "test" })).resolution, "created")
      })
    )

    it.effect("fills empty fields and overwrites none", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const first = yield* authorized(tenant, { name: "Ann", email: "nonsense", age: 5 })
        const id = consumerOf(yield* exchanged(tenant, first.code))
        assert.deepStrictEqual(yield* record(id), { email: null, full_name: null, name: "Ann", type: "authenticated" })
        yield* authorized(tenant, {
          name: "Bob",
          email: " Ann@Example.com",
          email_verified: true,
          fullName: "Ann Other"
        })
        const filled = { email: "ann@example.com", full_name: "Ann Other", name: "Ann", type: "authenticated" }
        assert.deepStrictEqual(yield* record(id), filled)
        yield* authorized(tenant, {
          name: 7,
          email: "other@example.com",
          email_verified: true,
          fullName: "Another Name"
        })
        assert.deepStrictEqual(yield* record(id), filled)
      })
    )

    it.effect("takes an address from the claims only if they say that it was verified", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const sql = yield* SqlClient.SqlClient
        const addresses = { email: "cy@example.com", phone: "+49 1512 3456789" }
        const unproven = { ...addresses, email_verified: "true", phone_verified: 1 }
        const id = consumerOf(yield* exchanged(tenant, (yield* authorized(tenant, unproven)).code))
        const stored = sql`select email, phone from consumers where id = ${id}`
        assert.deepStrictEqual(yield* stored, [{ email: null, phone: null }])
        yield* authorized(tenant, { ...addresses, phone_verified: true })
        assert.deepStrictEqual(yield* stored, [{ email: null, phone: "+4915123456789" }])
        yield* authorized(tenant, { ...addresses, email_verified: true })
        assert.deepStrictEqual(yield* stored, [{ email: "cy@example.com", phone: "+4915123456789" }])
      })
    )

    it.effect("never takes an email address of another consumer", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        yield* authorized(tenant, { email: "ann@example.com", email_verified: true })
        const thief = yield* authorized(
          tenant,
          { email: "ann@example.com", email_verified: true, name: "Thief" },
          { ...identity, subject: "2" }
        )
        const session = yield* exchanged(tenant, thief.code)
        assert.notProperty(session, "email")
        assert.deepInclude(yield* record(consumerOf(session)), { email: null, name: "Thief" })
      })
    )

    it.effect("is a new consumer after the former one was archived", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const before = yield* authorized(tenant)
        const id = consumerOf(yield* exchanged(tenant, before.code))
        const pending = yield* authorized(tenant)
        yield* sql`update consumers set archived = true where id = ${id}`
        assert.strictEqual(yield* exchanged(tenant, pending.code), "invalid_exchange_code")
        const after = yield* authorized(tenant)
        assert.strictEqual(after.resolution, "created")
        assert.notStrictEqual(consumerOf(yield* exchanged(tenant, after.code)), id)
      })
    )

    it.effect("has an exchange code that works once, for its tenant, for a minute, and is not in the database", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const { code } = yield* authorized(tenant)
        const dump = yield* sql<{ row: string }>`select e::text as row from exchange_codes e`
        for (const { row } of dump) assert.notInclude(row, code)
        assert.strictEqual(yield* exchanged(yield* aTenant, code), "invalid_exchange_code")
        const outcomes = yield* Effect.forEach(Array.from({ length: 30 }), () => exchanged(tenant, code), {
          concurrency: "unbounded"
        })
        assert.strictEqual(outcomes.filter((outcome) => typeof outcome === "object").length, 1)
        assert.strictEqual(outcomes.filter((outcome) => outcome === "invalid_exchange_code").length, 29)
        const late = yield* authorized(tenant)
        yield* sql`update exchange_codes set expires_at = now() - interval '1 second' where used_at is null`
        assert.strictEqual(yield* exchanged(tenant, late.code), "exchange_code_expired")
        for (const text of ["", "x", "x".repeat(100_000), "\u0000"]) {
          assert.strictEqual(yield* exchanged(tenant, text), "invalid_exchange_code")
        }
      })
    )

    it.effect("leaves no rows behind: expired ones are deleted, valid ones stay", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`truncate exchange_codes, sessions, one_time_codes`
        const tenant = yield* aTenant
        const { code } = yield* authorized(tenant)
        yield* exchanged(tenant, code)
        const { code: alive } = yield* authorized(tenant)
        assert.strictEqual(yield* removeExpired, 0)
        yield* sql`update sessions set expires_at = now() - interval '1 hour', access_expires_at = now() - interval '1 hour'`
        yield* sql`update exchange_codes set expires_at = now() - interval '2 hours' where used_at is not null`
        yield* sql`
          insert into exchange_codes select sha256(i::text::bytea), organization_id, mode, consumer_id, now() - interval '1 day'
          from exchange_codes, generate_series(1, 6000) i where used_at is null`
        assert.strictEqual(yield* removeExpired, 6_002)
        assert.isObject(yield* exchanged(tenant, alive))
      })
    )
  })
})
