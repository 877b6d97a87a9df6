import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Settings } from "../../../src/domain/consumer/Consumer.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import { actingAs } from "../../../src/store/organization/TenantEvents.ts"
import { ofOrganization, ofTenant } from "../../../src/store/records/Tenancy.ts"
import { aConsumer, aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const settings: Settings = { loyaltyBalance: 0n, email: "ann@example.com", metadata: { note: "likes red" } }

const events = Effect.fnUntraced(function* (tenant: Tenant) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ sequence: number; type: string; actor: string; subject_id: string; data: any }>`
    select sequence::float8 as sequence, type, actor, subject_id, data from tenant_events
    where ${ofTenant(sql, tenant)} and type <> 'organization.created' order by sequence`
})

/** Creates an experience within the transaction of the caller. */
const insertExperience = Effect.fnUntraced(function* ({ organizationId, mode }: Tenant, name = "Drop") {
  const sql = yield* SqlClient.SqlClient
  const id = randomUUID()
  const stamps = { created_at: new Date(1_000), created_by: "k", updated_at: new Date(1_000), updated_by: "k" }
  const row = {
    id,
    organization_id: organizationId,
    mode,
    name,
    record: JSON.stringify({ timeZone: "UTC" }),
    ...stamps
  }
  yield* sql`insert into experiences ${sql.insert(row)}`
  return id
})

describe("The journal of a tenant", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("names the fields of a consumer that changed, without their values", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const { id } = yield* consumers.create(tenant, "api_key:1", settings)
        yield* consumers.change(tenant, id, "api_key:2", (same) => ({ ...same, fullName: "Ann Lee" }))
        yield* consumers.change(tenant, id, "api_key:2", (same) => same)
        yield* consumers.archive(tenant, id, "api_key:3")
        yield* consumers.restore(tenant, id, "api_key:4")
        const unchanged = { before: {}, after: {} }
        const created = ["type", "email", "loyaltyBalance", "metadata"]
        assert.deepStrictEqual(
          (yield* events(tenant)).map(({ subject_id, ...event }) => ({ ...event, isOfConsumer: subject_id === id })),
          [
            ["consumer.created", "api_key:1", created],
            ["consumer.updated", "api_key:2", ["fullName"]],
            ["consumer.archived", "api_key:3", []],
            ["consumer.restored", "api_key:4", []]
          ].map(([type, actor, changed], index) => ({
            sequence: index + 2,
            type: type as string,
            actor: actor as string,
            data: { changed, ...unchanged },
            isOfConsumer: true
          }))
        )
      })
    )

    it.effect("has nothing of guests, until they sign in", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const id = yield* aConsumer(tenant)
        yield* sql`update consumers set full_name = 'Ann' where id = ${id}`
        assert.deepStrictEqual(yield* events(tenant), [])
        yield* sql`update consumers set type = 'authenticated', email = 'ann@example.com', updated_at = now() where id = ${id}`
        const [event] = yield* events(tenant)
        assert.deepInclude(event, { type: "consumer.created", actor: `consumer:${id}`, subject_id: id })
        yield* sql`update consumers set order_count = 3, proved_email = 'ann@example.com' where id = ${id}`
        assert.lengthOf(yield* events(tenant), 1)
      })
    )

    it.effect("contains each row of a batch", () =>
      Effect.gen(function* () {
        const consumers = yield* ConsumerRecords
        const tenant = yield* aTenant()
        const rows = Array.from({ length: 500 }, (_, n) => ({
          keys: { externalId: `crm-${n}`, email: undefined, phone: undefined },
          revise: (before: Partial<Settings>) => ({ loyaltyBalance: 0n, ...before, externalId: `crm-${n}` })
        }))
        yield* consumers.upsert(tenant, "api_key:1", rows)
        const found = yield* events(tenant)
        assert.deepStrictEqual(
          found.map(({ sequence }) => sequence),
          rows.map((_, n) => n + 2)
        )
        assert.strictEqual(new Set(found.map(({ subject_id }) => subject_id)).size, 500)
      })
    )

    it.effect("has no gap and nothing of transactions that were rolled back, and its writers do not deadlock", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenants = [yield* aTenant(), yield* aTenant()] as const
        // Each transaction writes to both tenants: every second one in the other order, every third one fails.
        const write = (n: number) =>
          Effect.forEach(n % 2 === 0 ? tenants : tenants.toReversed(), (tenant) => insertExperience(tenant)).pipe(
            Effect.andThen(n % 3 === 0 ? Effect.fail("undone") : Effect.void),
            sql.withTransaction,
            Effect.catchIf(
              (error) => error === "undone",
              () => Effect.void
            )
          )
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, n) => n),
          write,
          { concurrency: 10 }
        )
        for (const tenant of tenants) {
          const numbers = (yield* events(tenant)).map(({ sequence }) => sequence)
          assert.deepStrictEqual(
            numbers,
            Array.from({ length: 40 }, (_, n) => n + 2)
          )
        }
        assert.deepStrictEqual(yield* sql`select * from noted_events`, [])
      })
    )

    it.effect("leaves out changes that a savepoint undid, and separates the modes", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const undone = sql.withTransaction(Effect.andThen(insertExperience(tenant, "Undone"), Effect.fail("undone")))
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* insertExperience(tenant, "First")
            yield* Effect.ignore(undone)
            yield* insertExperience(tenant, "Second")
            yield* insertExperience(inTestMode(tenant), "Third")
          })
        )
        const names = Effect.fnUntraced(function* (of: Tenant) {
          return (yield* events(of)).map(({ sequence, data }) => [sequence, data.after.name])
        })
        assert.deepStrictEqual(yield* names(tenant), [
          [2, "First"],
          [3, "Second"]
        ])
        assert.deepStrictEqual(yield* names(inTestMode(tenant)), [[2, "Third"]])
      })
    )

    it.effect("names the operator as author where a command changes keys or seals secrets, and else the actor", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { organizationId, mode } = yield* aTenant()
        const insertKey = (kind: string) =>
          sql`insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
            values (${randomUUID()}, ${organizationId}, ${mode}, ${kind}, ${Buffer.from(randomUUID())}, 'pk_live_…', now())`
        yield* insertKey("publishable")
        yield* sql.withTransaction(Effect.andThen(sql`select ${actingAs(sql, "api_key:1")}`, insertKey("secret")))
        yield* sql`update api_keys set revoked_at = now() where ${ofOrganization(sql, organizationId)} and kind = 'secret'`
        const webhookId = randomUUID()
        yield* sql`
          insert into webhooks (id, organization_id, mode, record, created_at, created_by, updated_at, updated_by, url, secret)
          values (${webhookId}, ${organizationId}, ${mode}, '{}', now(), 'k', now(), 'k', 'https://shop.example', '\\x00')`
        yield* sql`update webhooks set secret = '\\x01', secret_sealed_by = 'key' where id = ${webhookId}`
        yield* sql`update organizations set plan = 'starter', updated_at = now(), updated_by = 'operator' where id = ${organizationId}`
        assert.deepStrictEqual(
          (yield* events({ organizationId, mode })).map(({ type, actor }) => [type, actor]),
          [
            ["api_key.created", "operator"],
            ["api_key.created", "api_key:1"],
            ["api_key.revoked", "operator"],
            ["webhook.created", "k"],
            ["webhook.secret_sealed", "operator"],
            ["organization.updated", "operator"]
          ]
        )
      })
    )

    it.effect("leaves out values that are long", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const id = yield* insertExperience(tenant)
        yield* sql`update experiences set name = ${"n".repeat(2_000)}, updated_at = now() where id = ${id}`
        const { data } = (yield* events(tenant))[1]!
        assert.deepStrictEqual(data, { changed: ["name"], before: { name: "Drop" }, after: {}, context: {} })
      })
    )

    it.effect("compares every column of a record that an admin can set", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const triggers = yield* sql<{ table: string; args: string }>`
          select tgrelid::regclass::text as table, encode(tgargs, 'escape') as args from pg_trigger
          where tgfoid = 'note_tenant_event'::regproc`
        const columns = yield* sql<{ table: string; column: string }>`
          select table_name as table, column_name as column from information_schema.columns
          where table_schema = 'public' and is_generated = 'NEVER'`
        /** Identity, author and time; counts; what follows from settings; and what belongs to webhooks' delivery and to keys. */
        const others = new Set(
          (
            "id organization_id mode created_at created_by updated_at updated_by archived last_refreshed_at window_revision " +
            "activated_at completed_at published_at last_published_at document_bytes placed_at paid_at fulfilled_at cancelled_at " +
            "taken_units stock_units grant_sequence payment_id grant_lapsed status_override_at status_override_by teardown_status " +
            "mailed_at failing_since last_sign_in_at " +
            "secret_sealed_by challenge_secret_sealed_by former_secret former_secret_sealed_by former_secret_until hash display " +
            "key_hash queue_ids"
          ).split(" ")
        )
        /** How far a rehearsal is, and its keys. */
        const course = "claimed_at ended_at status progress clock_now problem report keys_hash keys_until".split(" ")
        for (const [table, own] of Map.groupBy(triggers, ({ table }) => table)) {
          const compared = new Set(own.flatMap(({ args }) => args.split("\\000")[2]!.split(" ")))
          const left = columns.filter((column) => column.table === table && !others.has(column.column))
          const parents = table === "mechanisms" ? ["experience_id", "sequence_id"] : []
          const apart = table === "rehearsals" ? course : parents
          assert.deepStrictEqual(
            left.map(({ column }) => column).filter((column) => !compared.has(column) && !apart.includes(column)),
            [],
            table
          )
        }
      })
    )

    it.effect("shows no field that could contain a secret or personal data", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const triggers = yield* sql<{ table: string; args: string }>`
          select tgrelid::regclass::text as table, encode(tgargs, 'escape') as args from pg_trigger
          where tgfoid = 'note_tenant_event'::regproc`
        const columns = yield* sql<{ table: string; column: string; type: string }>`
          select table_name as table, column_name as column, data_type as type from information_schema.columns
          where table_schema = 'public'`
        assert.isAbove(triggers.length, 20)
        const hidden =
          /secret|token|password|hash|accesscode|seed|salt|mail|phone|fullname|address|attributes|metadata|sourcedata|sourceurl|uploadurl|rules|i18n|document|number|externalid$/i
        // Numbers, and the id of a product in another system.
        const harmless = new Set([
          "accessTokenTtlSeconds",
          "refreshTokenTtlSeconds",
          "oneAccountPerMailbox",
          "primaryExternalId"
        ])
        for (const { table, args } of triggers) {
          const [, , compared, shown, context] = args.split("\\000") as [string, string, string, string, string]
          const fields = [...shown.split(" "), ...context.split(/ |record\./)].filter((field) => !harmless.has(field))
          assert.deepStrictEqual(
            fields.filter((field) => hidden.test(field)),
            [],
            table
          )
          // A column of bytes is compared, and never shown.
          const bytes = columns.filter((column) => column.table === table && column.type === "bytea")
          for (const { column } of bytes) assert.notInclude(fields, column)
          const known = columns.filter((column) => column.table === table).map(({ column }) => column)
          assert.includeMembers(known, compared.split(" "), table)
        }
        // Those of consumers have no values at all.
        assert.notInclude(
          triggers.map(({ table }) => table),
          "consumers"
        )
      })
    )
  })
})
