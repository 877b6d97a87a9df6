/**
 * Organizations with their keys, consumers with their sessions, experiences with their sequences, and the mechanisms:
 * record, head, journal, places.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table organizations (
      id uuid primary key,
      name text not null,
      plan text not null check (plan in ('starter', 'growth', 'enterprise')),
      settings jsonb not null default '{}',
      created_at timestamptz not null
    )`

  yield* sql`
    create table api_keys (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null check (mode in ('live', 'test')),
      kind text not null check (kind in ('publishable', 'secret')),
      hash bytea not null unique,
      display text not null,
      created_at timestamptz not null,
      revoked_at timestamptz
    )`
  yield* sql`create unique index api_keys_current on api_keys (organization_id, mode, kind) where revoked_at is null`

  yield* sql`
    create table signing_keys (
      kid text primary key,
      private_key jsonb not null,
      public_key jsonb not null,
      created_at timestamptz not null,
      retired_at timestamptz
    )`

  yield* sql`
    create table consumers (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      type text not null check (type in ('guest', 'authenticated')),
      email text,
      phone text,
      full_name text,
      external_id text,
      loyalty_balance numeric(20, 8) not null default 0,
      created_at timestamptz not null,
      archived boolean not null default false
    )`
  yield* sql`create index consumers_by_tenant on consumers (organization_id, mode, created_at, id)`

  yield* sql`
    create table sessions (
      id uuid primary key,
      consumer_id uuid not null,
      organization_id uuid not null,
      mode text not null,
      type text not null,
      refresh_hash bytea not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      revoked_at timestamptz
    )`

  yield* sql`
    create table experiences (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      name text not null,
      record jsonb not null,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false
    )`
  yield* sql`create index experiences_by_tenant on experiences (organization_id, mode, created_at, id)`
  yield* sql`create index experiences_by_name on experiences (organization_id, mode, name, id)`

  yield* sql`
    create table sequences (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      experience_id uuid not null references experiences,
      name text not null,
      record jsonb not null,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false
    )`
  yield* sql`create index sequences_by_tenant on sequences (organization_id, mode, created_at, id)`
  yield* sql`create index sequences_by_experience on sequences (experience_id, id)`

  yield* sql`
    create table mechanisms (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      experience_id uuid not null references experiences,
      sequence_id uuid not null references sequences,
      kind text not null,
      configuration jsonb not null,
      status_override text,
      status_override_at timestamptz,
      status_override_by text,
      teardown_status text,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false
    )`
  yield* sql`create index mechanisms_by_tenant on mechanisms (organization_id, mode, kind, created_at, id)`
  yield* sql`create index mechanisms_by_experience on mechanisms (experience_id)`

  // One narrow row a mechanism, rewritten with every commit. Room on the page keeps the rewrite in place (HOT). For
  // the same reason `wake_at` has no index.
  yield* sql`
    create table mechanism_heads (
      mechanism_id uuid primary key references mechanisms,
      sequence bigint not null,
      wake_at timestamptz
    ) with (fillfactor = 50)`

  yield* sql`
    create table journal (
      mechanism_id uuid not null,
      sequence bigint not null,
      at timestamptz not null,
      type text not null,
      consumer_id uuid,
      data jsonb,
      primary key (mechanism_id, sequence)
    )`

  yield* sql`
    create table places (
      mechanism_id uuid not null,
      consumer_id uuid not null,
      status text not null,
      entered_at timestamptz not null,
      updated_at timestamptz not null,
      fields jsonb,
      primary key (mechanism_id, consumer_id)
    ) with (fillfactor = 80)`
  // For pages of a mechanism's consumers in the order of entry. The index grows at its right edge, and its columns
  // change only on re-entry. So it costs an entry about 2 %, and a change of status nothing while the row stays on
  // its page.
  yield* sql`create index places_by_entry on places (mechanism_id, entered_at, consumer_id)`
})
