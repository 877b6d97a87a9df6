/** Consumers as an organization manages them, and audiences whose members are computed from consumers' data. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `created_by` is null for a consumer who created itself. `updated_at` is null for a consumer that was never
  // changed. A guest without data is `anonymous`. There are hundreds of thousands of them, and only one of the
  // indexes below contains them.
  yield* sql`
    alter table consumers
      add column attributes jsonb,
      add column metadata jsonb,
      add column order_count int not null default 0,
      add column total_order_value numeric(30, 8) not null default 0,
      add column last_order_at timestamptz,
      add column created_by text,
      add column updated_at timestamptz,
      add column updated_by text,
      add column anonymous boolean not null generated always as (
        type = 'guest' and email is null and phone is null and full_name is null and external_id is null
          and order_count = 0 and total_order_value = 0 and last_order_at is null
      ) stored`

  // One external id names one consumer of a tenant. Of older rows that share an id, the oldest keeps it.
  yield* sql`
    update consumers c set external_id = null
    where not c.archived and exists (
      select from consumers o
      where o.organization_id = c.organization_id and o.mode = c.mode and not o.archived
        and o.external_id = c.external_id and (o.created_at, o.id) < (c.created_at, c.id))`
  yield* sql`
    create unique index consumers_by_external_id on consumers (organization_id, mode, external_id)
    where not archived and external_id is not null`

  // Lists combine two parts (store/consumer/ConsumerList.ts): the anonymous guests in the order of their creation,
  // and all others in the requested order. Only the first of these indexes contains anonymous guests. It replaces the
  // former one.
  yield* sql`drop index consumers_by_tenant`
  yield* sql`
    create index consumers_anonymous on consumers (organization_id, mode, created_at, id)
    where anonymous and not archived`
  const sorts = {
    age: "created_at",
    email: "coalesce(email, ''), created_at",
    full_name: "coalesce(full_name, ''), created_at",
    last_order: "coalesce(last_order_at, '-infinity'), created_at",
    total_order_value: "total_order_value, created_at"
  }
  for (const [name, expressions] of Object.entries(sorts)) {
    yield* sql`
      create index ${sql(`consumers_known_by_${name}`)}
      on consumers (organization_id, mode, type, ${sql.literal(expressions)}, id)
      where not anonymous and not archived`
  }
  yield* sql`
    create index consumers_search on consumers
    using gin (search_pieces(coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(full_name, '')))
    where not anonymous and not archived`

  // Archived consumers whose access tokens may still be valid: each process caches them.
  yield* sql`create index consumers_archived on consumers (updated_at) where archived`

  // The rules of an audience of type DYNAMIC. Its members are never stored.
  yield* sql`alter table audiences add column rules jsonb`
  yield* sql`
    alter table audiences add constraint audiences_rules check ((type = 'DYNAMIC') = (rules is not null))`
})
