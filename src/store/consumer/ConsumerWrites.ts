/**
 * The statements that write one consumer or many at once.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { defaults, type Settings } from "../../domain/consumer/Consumer.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { tellConsumersChanged } from "../experience/SequenceAccess.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { stampOf } from "../records/Rows.ts"
import { orTaken } from "../records/Taken.ts"
import { unarchivedOf } from "../records/Tenancy.ts"
import { type KeyField, keyFields, meaningsOf, type Upsert } from "./ConsumerMatching.ts"
import { columnsOf, type Row, settable, settingsOf, toConsumer } from "./ConsumerRow.ts"

/** Another consumer has this key. Nothing has changed. */
export class KeyTaken extends Schema.TaggedError<KeyTaken>()("KeyTaken", { field: Schema.Literals(keyFields) }) {}

/** Some rows name the same consumer, or one row names several. Nothing has changed. */
export class AmbiguousRows extends Schema.TaggedError<AmbiguousRows>()("AmbiguousRows", {
  rows: Schema.Array(Schema.Struct({ index: Schema.Int, sameAs: Schema.UndefinedOr(Schema.Int) }))
}) {}

/** The number of retries of a batch whose keys concurrent requests have taken. */
const triesMax = 5

const constraints: { readonly [constraint: string]: KeyField } = {
  consumers_by_email: "email",
  consumers_by_phone: "phone",
  consumers_by_external_id: "externalId"
}

/** Fails with `KeyTaken` if another consumer has one of the keys. */
export const orKeyTaken = orTaken((constraint) => {
  const field = constraints[constraint]
  return field === undefined ? undefined : new KeyTaken({ field })
})

/**
 * Creates the operation that writes consumers in one statement. It changes those whose id exists and creates the
 * others. It writes them in key order, so batches that create the same consumers wait for each other without a
 * deadlock.
 */
export const makeWrite = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (
    tenant: Tenant,
    by: string,
    consumers: ReadonlyArray<{ readonly id: string; readonly settings: Settings }>
  ) {
    const { now } = yield* stampOf(by)
    const given = sql.json(consumers.map(({ id, settings }) => ({ id, ...columnsOf(settings) })))
    const rows = yield* sql<Row>`
      insert into consumers as c
        (id, organization_id, mode, type, ${sql.literal(settable.join(", "))},
          created_at, created_by, updated_at, updated_by)
      select id, ${tenant.organizationId}::uuid, ${tenant.mode}, 'authenticated', ${sql.literal(settable.join(", "))},
        ${now}::timestamptz, ${by}, ${now}::timestamptz, ${by}
      from jsonb_to_recordset(${given}) as given (
        id uuid, email text, phone text, full_name text, name text, external_id text, loyalty_balance numeric,
        attributes jsonb, metadata jsonb)
      order by external_id, email, phone
      on conflict (id) do update set
        ${sql.literal(settable.map((column) => `${column} = excluded.${column}`).join(", "))},
        updated_at = excluded.updated_at, updated_by = excluded.updated_by
      returning *`
    const byId = new Map(rows.map((row) => [row.id, row]))
    return consumers.map(({ id }) => toConsumer(byId.get(id)!))
  })

/**
 * Locks the tenant's consumers that the rows name. It always locks them in id order, so batches wait for each other
 * without a deadlock.
 */
const lockNamed = (sql: PgClient.PgClient, tenant: Tenant, rows: ReadonlyArray<Upsert>) => {
  const all = (field: KeyField) => rows.flatMap(({ keys }) => keys[field] ?? [])
  const isMember = sql`c.type = 'authenticated'`
  return sql<Row>`
    select c.* from consumers c
    where c.id = any(array(
        select c.id from consumers c
        where ${unarchivedOf(sql, tenant, "c")} and c.external_id = any(${all("externalId")}::text[])
        union select c.id from consumers c
        where ${unarchivedOf(sql, tenant, "c")} and ${isMember} and c.email = any(${all("email")}::text[])
        union select c.id from consumers c
        where ${unarchivedOf(sql, tenant, "c")} and ${isMember} and c.phone = any(${all("phone")}::text[])
      )) and ${unarchivedOf(sql, tenant, "c")}
    order by c.id for update`
}

/** Creates `ConsumerRecords.upsert`. */
export const makeUpsert = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  const write = makeWrite(sql)

  const attempt = Effect.fnUntraced(function* (tenant: Tenant, by: string, rows: ReadonlyArray<Upsert>) {
    const known = yield* lockNamed(sql, tenant, rows)
    const meant = meaningsOf(rows, known)
    if (meant.ambiguous.length > 0) return yield* new AmbiguousRows({ rows: meant.ambiguous })
    const consumers = yield* Effect.forEach(rows, ({ revise }, index) => {
      const row = meant.consumers[index]
      return row === undefined
        ? Effect.map(random.uuidV7(), (id) => ({ id, settings: revise(defaults) }))
        : Effect.succeed({ id: row.id, settings: revise(settingsOf(row)) })
    })
    const written = yield* write(tenant, by, consumers)
    yield* tellConsumersChanged(
      sql,
      known.map(({ id }) => id)
    )
    return written
  }, sql.withTransaction)

  return Effect.fn("ConsumerRecords.upsert")(function* (tenant: Tenant, by: string, rows: ReadonlyArray<Upsert>) {
    // A consumer who signs in concurrently can take an address that was free. Then the row names that consumer.
    return yield* Effect.retry(orKeyTaken(attempt(tenant, by, rows)), {
      while: (error) =>
        error._tag === "KeyTaken" || (error._tag === "SqlError" && error.reason._tag === "DeadlockError"),
      times: triesMax
    }).pipe(Effect.catchTag("KeyTaken", (cause) => Effect.fail(new Unavailable({ cause }))))
  }, orUnavailable)
}
