/**
 * One-time codes that belong to the request that asked for them, bounds on tries that all processes share, addresses
 * that a code has proved, and security events.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One row for each request. `client` is a digest of the client's address.
  yield* sql`alter table one_time_codes rename to former_codes`
  yield* sql`alter table former_codes rename constraint one_time_codes_pkey to former_codes_pkey`
  yield* sql`
    create table one_time_codes (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      channel text not null check (channel in ('email', 'phone')),
      address text not null,
      client bytea not null,
      hash bytea not null,
      tries int not null default 0,
      unbound_tries int not null default 0,
      sent_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz
    ) with (fillfactor = 80)`
  // The latest code of an address keeps its hash. Earlier ones were replaced, and count as sent only.
  yield* sql`
    insert into one_time_codes
      (id, organization_id, mode, channel, address, client, hash, unbound_tries, sent_at, expires_at, used_at)
    select gen_random_uuid(), c.organization_id, c.mode, c.channel, c.address, '\\x', c.hash, c.tries, s.sent_at,
      c.expires_at, case when s.nth = cardinality(c.sent_at) then c.used_at else s.sent_at end
    from former_codes c cross join lateral unnest(c.sent_at) with ordinality as s (sent_at, nth)`
  yield* sql`drop table former_codes`
  yield* sql`
    create index one_time_codes_by_address on one_time_codes (organization_id, mode, channel, address, sent_at desc)`
  yield* sql`create index one_time_codes_by_expiry on one_time_codes using brin (expires_at)`

  // `subject` and `client` are digests: of the limited subject, and of the client's address.
  yield* sql`
    create table attempts (
      organization_id uuid not null references organizations,
      mode text not null,
      limit_name text not null,
      subject bytea not null,
      client bytea not null,
      count int not null,
      ends_at timestamptz not null,
      primary key (organization_id, mode, limit_name, subject, client)
    ) with (fillfactor = 70)`
  yield* sql`create index attempts_by_end on attempts (ends_at)`

  // An address is proved if it equals the consumer's. Consumers that only codes can have made have proved theirs.
  yield* sql`alter table consumers add column proved_email text, add column proved_phone text`
  yield* sql`
    update consumers c set proved_email = email, proved_phone = phone
    where type = 'authenticated' and created_by is null and (email is not null or phone is not null)
      and not exists (select from external_identities i where i.consumer_id = c.id)`

  yield* sql`
    create table security_events (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      type text not null,
      consumer_id uuid,
      client_address text,
      details jsonb not null,
      count bigint not null,
      first_at timestamptz not null,
      last_at timestamptz not null,
      bucket timestamptz not null,
      fingerprint bytea not null,
      unique (organization_id, mode, bucket, fingerprint)
    ) with (fillfactor = 80)`
  yield* sql`create index security_events_by_time on security_events (organization_id, mode, first_at, id)`
  yield* sql`
    create index security_events_by_consumer on security_events (organization_id, mode, consumer_id, first_at, id)
    where consumer_id is not null`
  yield* sql`create index security_events_by_type on security_events (organization_id, mode, type, first_at, id)`

  // The pictures of a look have to be https. An earlier URL becomes one if it was http, and is removed otherwise.
  for (const [table, column] of [
    ["organizations", "settings"],
    ["experiences", "record"]
  ] as const) {
    for (const field of ["logoUrl", "headerImageUrl"]) {
      const path = ["theme", field]
      yield* sql`
        update ${sql(table)} set ${sql(column)} = case
          when ${sql(column)} #>> ${path}::text[] ~* '^http://[^[:space:]@]+$' then jsonb_set(${sql(column)}, ${path}::text[],
            to_jsonb(regexp_replace(${sql(column)} #>> ${path}::text[], '^http://', 'https://', 'i')))
          else ${sql(column)} #- ${path}::text[]
        end
        where ${sql(column)} #>> ${path}::text[] is not null
          and ${sql(column)} #>> ${path}::text[] !~ '^https://[^[:space:]@]+$'`
    }
  }
})
