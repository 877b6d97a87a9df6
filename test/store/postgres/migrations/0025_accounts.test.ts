/** The effect on codes, addresses and pictures from before codes belonged to a request. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHmac } from "node:crypto"
import * as Auth from "../../../../src/auth/Auth.ts"
import { OneTimeCodes } from "../../../../src/auth/codes/OneTimeCodes.ts"
import { Settings } from "../../../../src/settings/Settings.ts"
import { addConsumer, addOrganization, anyId, databaseAt, organizationId } from "./earlierSchema.ts"

const tenant = { organizationId, mode: "live" } as const

const services = Auth.layer.pipe(Layer.provide(Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto)))

const now = Date.now()
const ago = (minutes: number) => new Date(now - minutes * 60_000)

describe("Step 0025", () => {
  it.live("keeps codes: the last one that was sent signs in, and earlier ones count as sent only", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(24)
      yield* addOrganization(sql)
      const [secret] = yield* sql<{ readonly secret: Uint8Array }>`
        select secret from server_secrets where name = 'one_time_codes'`
      const addCode = (address: string, code: string, sent: ReadonlyArray<Date>, usedAt: Date | null, tries = 0) => {
        const text = JSON.stringify([organizationId, "live", "email", address, code])
        const hash = createHmac("sha256", secret!.secret).update(text).digest()
        return sql`
          insert into one_time_codes
            (organization_id, mode, channel, address, hash, tries, expires_at, used_at, sent_at)
          values (${organizationId}, 'live', 'email', ${address}, ${hash}, ${tries}, ${ago(-9)}, ${usedAt},
            ${sent.map((at) => at.toISOString())}::timestamptz[])`
      }
      yield* addCode("ann@example.com", "123456", [ago(5), ago(3), ago(1)], null)
      yield* addCode("bob@example.com", "234567", [ago(1)], ago(0))
      yield* addCode("eve@example.com", "345678", [ago(1)], null, 5)
      assert.include(yield* migrate, 25)
      const rows = yield* sql`
        select address, count(*)::int as sent, count(*) filter (where used_at is null)::int as open
        from one_time_codes group by address order by address`
      assert.deepStrictEqual(rows, [
        { address: "ann@example.com", sent: 3, open: 1 },
        { address: "bob@example.com", sent: 1, open: 0 },
        { address: "eve@example.com", sent: 1, open: 1 }
      ])
      const outcome = (value: string, code: string) =>
        Effect.flatMap(OneTimeCodes, (codes) =>
          codes.verify(tenant, { address: { channel: "email", value }, code, client: "192.0.2.1" })
        ).pipe(
          Effect.map(({ session }) => session.type),
          Effect.catchTag("WrongCode", ({ reason }) => Effect.succeed(reason))
        )
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* outcome("ann@example.com", "000000"), "otp_invalid")
        assert.strictEqual(yield* outcome("ann@example.com", "123456"), "authenticated")
        assert.strictEqual(yield* outcome("ann@example.com", "123456"), "otp_expired")
        assert.strictEqual(yield* outcome("bob@example.com", "234567"), "otp_expired")
        assert.strictEqual(yield* outcome("eve@example.com", "345678"), "otp_expired")
      }).pipe(Effect.provide(Layer.provide(services, database)))
    })
  )

  it.live("takes addresses as proved only of consumers that codes have made", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(24)
      yield* addOrganization(sql)
      yield* addConsumer(sql, anyId(4001), { email: "ann@example.com", phone: "+4915112345678" })
      yield* addConsumer(sql, anyId(4002), { email: "shop@example.com", created_by: "api_key:shop" })
      yield* addConsumer(sql, anyId(4003), { email: "external@example.com" })
      yield* addConsumer(sql, anyId(4004), { type: "guest", email: "guest@example.com" })
      yield* addConsumer(sql, anyId(4005), {})
      yield* sql`
        insert into external_identities (organization_id, mode, provider, issuer, subject, consumer_id, created_at)
        values (${organizationId}, 'live', 'shop', 'https://shop.example', 'one', ${anyId(4003)}, now())`
      yield* migrate
      const rows = yield* sql`select email, proved_email, proved_phone from consumers order by id`
      assert.deepStrictEqual(rows, [
        { email: "ann@example.com", proved_email: "ann@example.com", proved_phone: "+4915112345678" },
        { email: "shop@example.com", proved_email: null, proved_phone: null },
        { email: "external@example.com", proved_email: null, proved_phone: null },
        { email: "guest@example.com", proved_email: null, proved_phone: null },
        { email: null, proved_email: null, proved_phone: null }
      ])
    })
  )

  it.live("makes pictures https, removes those that cannot be, and keeps all other settings", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(24)
      yield* addOrganization(sql, {
        currencyCode: "EUR",
        theme: {
          logoUrl: "HTTP://cdn.example/logo.png",
          headerImageUrl: "javascript:alert(1)",
          primaryColor: "#000000"
        }
      })
      const experience = (last: number, record: object) =>
        sql`
          insert into experiences
            (id, organization_id, mode, name, record, created_at, created_by, updated_at, updated_by)
          values (${anyId(last)}, ${organizationId}, 'live', 'Drop', ${sql.json(record)}, now(), 'x', now(), 'x')`
      yield* experience(4001, { theme: { logoUrl: "https://cdn.example/logo.png" } })
      yield* experience(4002, {
        theme: { logoUrl: "http://user@cdn.example/logo.png" },
        openAt: "2033-01-01T00:00:00Z"
      })
      yield* experience(4003, {})
      yield* migrate
      const [organization] = yield* sql`select settings from organizations`
      assert.deepStrictEqual(organization!["settings"], {
        currencyCode: "EUR",
        theme: { logoUrl: "https://cdn.example/logo.png", primaryColor: "#000000" }
      })
      const records = yield* sql<{ readonly record: object }>`select record from experiences order by id`
      assert.deepStrictEqual(
        records.map(({ record }) => record),
        [{ theme: { logoUrl: "https://cdn.example/logo.png" } }, { theme: {}, openAt: "2033-01-01T00:00:00Z" }, {}]
      )
    })
  )
})
