/**
 * Webhooks: the endpoints, a cursor of each endpoint into each mechanism's journal, the notifications that wait, and
 * the log of deliveries. The secrets of endpoints are sealed with `SECRETS_KEY`; `…_sealed_by` is the id of the key.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table webhooks (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      record jsonb not null,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false,
      url text not null,
      secret bytea not null,
      secret_sealed_by text,
      former_secret bytea,
      former_secret_sealed_by text,
      former_secret_until timestamptz,
      disabled_reason text,
      failing_since timestamptz
    )`
  yield* sql`create index webhooks_by_tenant on webhooks (organization_id, mode, created_at, id) where not archived`
  yield* sql`create index webhooks_by_url on webhooks (organization_id, mode, url, id) where not archived`
  yield* sql`create index webhooks_by_archived on webhooks (organization_id, mode, created_at, id) where archived`
  yield* sql`create index webhooks_searched on webhooks using gin (search_pieces(organization_id, mode, url)) where not archived`

  // All events of a mechanism up to the cursor are delivered, permanently failed, or held.
  yield* sql`
    create table webhook_cursors (
      webhook_id uuid not null references webhooks,
      mechanism_id uuid not null references mechanisms,
      sequence bigint not null,
      primary key (webhook_id, mechanism_id)
    )`

  // Of each lane the first notification has a time for its next attempt. The others wait for it.
  yield* sql`
    create table webhook_held (
      webhook_id uuid not null references webhooks,
      mechanism_id uuid not null,
      sequence bigint not null,
      part int2 not null,
      event_id text not null,
      type text not null,
      lane text not null,
      body text not null,
      attempts int2 not null,
      retry_at timestamptz,
      primary key (webhook_id, lane, sequence, part)
    )`
  yield* sql`create index webhook_held_due on webhook_held (webhook_id, retry_at) where retry_at is not null`

  yield* sql`
    create table webhook_deliveries (
      webhook_id uuid not null references webhooks,
      event_id text not null,
      id uuid not null,
      type text not null,
      status text not null check (status in ('DELIVERED', 'WAITING', 'FAILED')),
      attempts jsonb not null,
      body text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (webhook_id, event_id)
    )`
  yield* sql`create index webhook_deliveries_by_time on webhook_deliveries (webhook_id, created_at, id)`
  yield* sql`create index webhook_deliveries_by_age on webhook_deliveries (created_at)`
})
