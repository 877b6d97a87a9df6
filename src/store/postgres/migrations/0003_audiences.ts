/**
 * Audiences with their members, sequences with an audience or an access code, and consumers who have entered an
 * experience.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table audiences (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      name text not null,
      type text not null check (type in ('STATIC', 'DYNAMIC')),
      member_count bigint not null default 0,
      last_refreshed_at timestamptz,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false
    ) with (fillfactor = 80)`
  yield* sql`create index audiences_by_tenant on audiences (organization_id, mode, created_at, id)`

  yield* sql`
    create table audience_members (
      audience_id uuid not null references audiences,
      consumer_id uuid not null references consumers,
      added_at timestamptz not null,
      primary key (audience_id, consumer_id)
    )`
  yield* sql`create index audience_members_by_age on audience_members (audience_id, added_at, consumer_id)`

  yield* sql`
    alter table sequences
      add column audience_id uuid references audiences,
      add column access_code_hash bytea`
  yield* sql`create index sequences_by_audience on sequences (audience_id) where audience_id is not null`
  // Only few rows match, and each process caches them all.
  yield* sql`
    create index sequences_protected on sequences (id)
    where not archived and (audience_id is not null or access_code_hash is not null)`

  // The consumers who have presented a sequence's access code.
  yield* sql`
    create table sequence_passes (
      sequence_id uuid not null references sequences,
      consumer_id uuid not null,
      passed_at timestamptz not null,
      primary key (sequence_id, consumer_id)
    )`
  yield* sql`insert into server_secrets (name, secret) values ('access_codes', ${randomBytes(32)})`

  yield* sql`
    create table experience_entries (
      experience_id uuid not null references experiences,
      consumer_id uuid not null,
      entered_at timestamptz not null,
      primary key (experience_id, consumer_id)
    )`

  yield* sql`create index mechanisms_by_sequence on mechanisms (sequence_id)`
  yield* sql`create index mechanisms_by_age on mechanisms (organization_id, mode, created_at, id)`
  // A consumer's places are looked up in each of these, so `places` needs no index by consumer.
  yield* sql`
    create index mechanisms_at_work on mechanisms (organization_id, mode)
    where not archived and teardown_status is distinct from 'completed'`
})
