/**
 * Messages about grants: a cursor into each mechanism's journal, and the outcome of each message. Leases that let one
 * of several processes do such work.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table grant_message_cursors (
      mechanism_id uuid primary key references mechanisms,
      sequence bigint not null
    )`

  // `sequence` is the number of the event that made the grant, so each grant has one message.
  yield* sql`
    create table grant_messages (
      mechanism_id uuid not null references mechanisms,
      sequence bigint not null,
      consumer_id uuid not null,
      channel text not null check (channel in ('email', 'phone')),
      outcome text not null check (outcome in ('delivered', 'undeliverable', 'waiting', 'abandoned')),
      attempts int4 not null,
      updated_at timestamptz not null,
      retry_at timestamptz check ((retry_at is not null) = (outcome = 'waiting')),
      primary key (mechanism_id, sequence)
    )`
  yield* sql`create index grant_messages_waiting on grant_messages (retry_at) where retry_at is not null`
  yield* sql`
    create index organizations_with_grant_messages on organizations (id)
    where settings ->> 'grantMessages' <> 'off'`

  yield* sql`
    create table leases (
      name text primary key,
      owner uuid not null,
      held_until timestamptz not null
    )`
})
