/** The people who use the dashboard. Their sessions begin with a mailed code, so a session may have no key. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { personTriggers } from "./tenantEvents/RecordTriggers.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table people (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      record jsonb not null,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false,
      email text not null,
      name text,
      role text not null check (role in ('viewer', 'operator', 'admin')),
      last_sign_in_at timestamptz
    )`
  const searched = sql.literal("search_pieces(organization_id, mode, (email || ' ' || coalesce(name, '')))")
  yield* sql`create unique index people_by_email on people (email, organization_id, mode) where not archived`
  yield* sql`create index people_by_tenant on people (organization_id, mode, created_at, id) where not archived`
  yield* sql`create index people_by_archived on people (organization_id, mode, created_at, id) where archived`
  yield* sql`create index people_searched on people using gin (${searched}) where not archived`
  for (const trigger of personTriggers) yield* sql`${sql.literal(trigger)}`

  yield* sql`
    alter table operator_sessions
      alter column api_key_id drop not null,
      add column person_id uuid references people on delete cascade,
      add constraint operator_sessions_of_one check (num_nonnulls(api_key_id, person_id) = 1)`
  yield* sql`create index operator_sessions_by_person on operator_sessions (person_id)`

  // Codes of the dashboard have a channel of their own, so that no code of a consumer is one of them.
  const checks = yield* sql<{ readonly name: string }>`
    select conname as name from pg_constraint
    where conrelid = 'one_time_codes'::regclass and contype = 'c' and pg_get_constraintdef(oid) like '%channel%'`
  for (const { name } of checks) yield* sql`alter table one_time_codes drop constraint ${sql(name)}`
  yield* sql`
    alter table one_time_codes
      add constraint one_time_codes_of_channel check (channel in ('email', 'phone', 'operator'))`
})
