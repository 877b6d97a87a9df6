/** Orders, the totals of each consumer's orders, and how often a consumer may order in a sequence. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table orders (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      consumer_id uuid not null references consumers,
      experience_id uuid references experiences,
      sequence_id uuid references sequences,
      distribution_id uuid references mechanisms,
      distribution_type text,
      external_id text,
      number text,
      status text not null check (status in ('CREATED', 'PAID', 'FULFILLED', 'CANCELLED')),
      currency_code text not null,
      total numeric(20, 8) not null,
      record jsonb not null,
      placed_at timestamptz not null,
      paid_at timestamptz,
      fulfilled_at timestamptz,
      cancelled_at timestamptz,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false
    )`
  yield* sql`create index orders_by_tenant on orders (organization_id, mode, created_at, id)`
  yield* sql`create index orders_by_update on orders (organization_id, mode, updated_at, id)`
  yield* sql`create index orders_by_total on orders (organization_id, mode, total, id)`
  yield* sql`create index orders_by_status on orders (organization_id, mode, status, created_at, id)`
  yield* sql`create index orders_of_consumers on orders (consumer_id, created_at, id)`
  yield* sql`create index orders_of_experiences on orders (experience_id, created_at, id)`
  yield* sql`create index orders_of_distributions on orders (distribution_id, created_at, id)`
  yield* sql`
    create unique index orders_by_external_id on orders (organization_id, mode, external_id)
    where external_id is not null`
  yield* sql`
    create index orders_search on orders
    using gin (search_pieces(coalesce(external_id, '') || ' ' || coalesce(number, '')))`

  // The times by which analytics counts orders, in addition to their creation.
  for (const moment of ["paid_at", "fulfilled_at", "cancelled_at"]) {
    yield* sql`
      create index ${sql(`orders_by_${moment}`)} on orders (organization_id, mode, ${sql(moment)})
      where ${sql(moment)} is not null`
  }

  // Orders that count: a consumer's latest, and how many it has in a sequence.
  yield* sql`create index orders_counted on orders (consumer_id, placed_at) where status <> 'CANCELLED'`
  yield* sql`create index orders_in_sequences on orders (sequence_id, consumer_id) where status <> 'CANCELLED'`

  yield* sql`
    alter table consumers
      add column if not exists order_count int not null default 0,
      add column if not exists total_order_value numeric(30, 8) not null default 0,
      add column if not exists last_order_at timestamptz`

  yield* sql`
    alter table sequences
      add column order_limit int generated always as ((record ->> 'orderLimitPerConsumer')::int) stored`
  // The sequences that each process caches, now including those with a limit.
  yield* sql`drop index sequences_protected`
  yield* sql`
    create index sequences_protected on sequences (id)
    where not archived and (audience_id is not null or access_code_hash is not null or order_limit is not null)`
})
