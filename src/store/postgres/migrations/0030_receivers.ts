/**
 * Receivers of providers' events: the receivers, the events they received, the messages that Usher sent, the addresses
 * that get no more messages, and the payment of an order. The secrets of receivers are sealed with `SECRETS_KEY`;
 * `…_sealed_by` is the id of the key.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { receiverTriggers } from "./tenantEvents/RecordTriggers.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table receivers (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      record jsonb not null,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false,
      adapter text not null,
      description text,
      secret bytea not null,
      secret_sealed_by text,
      former_secret bytea,
      former_secret_sealed_by text,
      former_secret_until timestamptz
    )`
  const searched = sql.literal("search_pieces(organization_id, mode, (adapter || ' ' || coalesce(description, '')))")
  yield* sql`create index receivers_by_tenant on receivers (organization_id, mode, created_at, id) where not archived`
  yield* sql`create index receivers_by_archived on receivers (organization_id, mode, created_at, id) where archived`
  yield* sql`create index receivers_searched on receivers using gin (${searched}) where not archived`
  for (const trigger of receiverTriggers) yield* sql`${sql.literal(trigger)}`

  // An event is written before its provider gets an answer, and handled later. `id` orders events in lists.
  yield* sql`
    create table received_events (
      receiver_id uuid not null references receivers,
      event_id text not null,
      id uuid not null,
      type text not null,
      at timestamptz not null,
      received_at timestamptz not null,
      body text not null,
      status text not null check (status in ('WAITING', 'DONE', 'IGNORED', 'NEEDS_ATTENTION', 'FAILED')),
      attempts int2 not null,
      next_at timestamptz check ((next_at is not null) = (status = 'WAITING')),
      outcome text,
      primary key (receiver_id, event_id)
    )`
  yield* sql`create index received_events_by_time on received_events (receiver_id, received_at, id)`
  yield* sql`create index received_events_by_age on received_events (received_at)`
  yield* sql`create index received_events_due on received_events (next_at) where next_at is not null`

  // The messages whose provider gave an id.
  yield* sql`
    create table sent_messages (
      organization_id uuid not null references organizations,
      mode text not null,
      channel text not null check (channel in ('email', 'phone')),
      message_id text not null,
      status text not null,
      sent_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (organization_id, mode, channel, message_id)
    )`
  yield* sql`create index sent_messages_by_age on sent_messages (sent_at)`

  yield* sql`
    create table stopped_addresses (
      organization_id uuid not null references organizations,
      mode text not null,
      channel text not null check (channel in ('email', 'phone')),
      address text not null,
      reason text not null check (reason in ('BOUNCED', 'COMPLAINED', 'OPTED_OUT')),
      receiver_id uuid not null references receivers,
      stopped_at timestamptz not null,
      primary key (organization_id, mode, channel, address)
    )`

  // The provider's id of the payment, which a refund names.
  yield* sql`
    alter table orders
      add column payment_id text,
      add column grant_lapsed boolean not null default false`
  yield* sql`
    create index orders_by_payment on orders (organization_id, mode, payment_id) where payment_id is not null`
})
