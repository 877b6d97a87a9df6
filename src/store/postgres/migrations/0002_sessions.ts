/**
 * Sessions that can be refreshed, ended and cleaned up. Consumers who identify themselves by a one-time code, or
 * through the organization's own server.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A session is a family of refresh tokens, and stores the current one. Until `access_expires_at`, access tokens of
  // the session may be valid. For older sessions this value is only an upper bound.
  yield* sql`alter table sessions add column access_expires_at timestamptz`
  yield* sql`update sessions set access_expires_at = expires_at`
  yield* sql`alter table sessions alter column access_expires_at set not null`
  yield* sql`create index sessions_revoked on sessions (access_expires_at) where revoked_at is not null`
  yield* sql`create index sessions_of_consumers on sessions (consumer_id) where type = 'authenticated'`
  // Rows are written in the order in which they expire, so the smallest kind of index finds expired rows.
  yield* sql`create index sessions_by_expiry on sessions using brin (expires_at)`

  // One address names one consumer of a tenant. Of older rows that share an address, the oldest keeps it.
  yield* sql`alter table consumers add column name text`
  yield* sql`update consumers set email = nullif(lower(btrim(email)), '') where email is not null`
  for (const column of ["email", "phone"]) {
    yield* sql`
      update consumers c set ${sql(column)} = null
      where c.type = 'authenticated' and not c.archived and exists (
        select from consumers o
        where o.organization_id = c.organization_id and o.mode = c.mode and o.type = 'authenticated' and not o.archived
          and o.${sql(column)} = c.${sql(column)} and (o.created_at, o.id) < (c.created_at, c.id))`
    yield* sql`
      create unique index ${sql(`consumers_by_${column}`)} on consumers (organization_id, mode, ${sql(column)})
      where type = 'authenticated' and not archived and ${sql(column)} is not null`
  }

  // At most one code for an address. `sent_at` holds the times of the last five messages.
  yield* sql`
    create table one_time_codes (
      organization_id uuid not null references organizations,
      mode text not null,
      channel text not null check (channel in ('email', 'phone')),
      address text not null,
      hash bytea not null,
      tries int not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      sent_at timestamptz[] not null,
      primary key (organization_id, mode, channel, address)
    ) with (fillfactor = 80)`

  yield* sql`
    create table external_identities (
      organization_id uuid not null references organizations,
      mode text not null,
      provider text not null,
      issuer text not null,
      subject text not null,
      consumer_id uuid not null references consumers deferrable initially deferred,
      created_at timestamptz not null,
      primary key (organization_id, mode, provider, issuer, subject)
    )`
  yield* sql`create index external_identities_of_consumers on external_identities (consumer_id)`

  yield* sql`
    create table exchange_codes (
      hash bytea primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      consumer_id uuid not null,
      expires_at timestamptz not null,
      used_at timestamptz
    )`

  // Keys for hashes of values that could be guessed from a plain hash, such as a six-digit code.
  yield* sql`create table server_secrets (name text primary key, secret bytea not null)`
  yield* sql`insert into server_secrets (name, secret) values ('one_time_codes', ${randomBytes(32)})`
})
