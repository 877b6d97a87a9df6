/**
 * The journal of a tenant: the changes of its records, settings and keys, with their authors. It is the audit log.
 *
 * Triggers write it, so no change of a row bypasses it. A row's trigger notes the event in `noted_events`. At the
 * commit one statement gives the events of the transaction their numbers, which are gapless for each tenant. Only then
 * the row of `tenant_heads` is locked, always in the same order, so transactions do not deadlock over it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { consumerTriggers } from "./tenantEvents/ConsumerTriggers.ts"
import { createFunctions } from "./tenantEvents/Functions.ts"
import { recordTriggers } from "./tenantEvents/RecordTriggers.ts"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* createTables
  yield* changeTables
  yield* createFunctions
  for (const trigger of [...recordTriggers, ...consumerTriggers]) yield* sql`${sql.literal(trigger)}`
})

const createTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table tenant_heads (
      organization_id uuid not null references organizations,
      mode text not null,
      sequence bigint not null,
      primary key (organization_id, mode)
    ) with (fillfactor = 50)`

  yield* sql`
    create table tenant_events (
      organization_id uuid not null,
      mode text not null,
      sequence bigint not null,
      at timestamptz not null,
      type text not null,
      actor text not null,
      subject_id uuid not null,
      data jsonb not null,
      primary key (organization_id, mode, sequence)
    )`
  for (const column of ["type", "actor", "subject_id"] as const) {
    yield* sql`
      create index ${sql(`tenant_events_by_${column}`)} on tenant_events (organization_id, mode, ${sql(column)}, sequence)`
  }
  yield* sql`create index tenant_events_by_time on tenant_events (organization_id, mode, at)`
  yield* sql`create index tenant_events_by_age on tenant_events using brin (at)`

  // Its rows live for one transaction, so nothing is lost with the table after a crash of the database.
  yield* sql`
    create unlogged table noted_events (
      transaction xid8 not null default pg_current_xact_id(),
      position bigint generated always as identity,
      organization_id uuid not null,
      mode text not null,
      at timestamptz not null,
      type text not null,
      actor text not null,
      subject_id uuid not null,
      data jsonb not null
    )`
  yield* sql`create index noted_events_by_transaction on noted_events (transaction, subject_id)`
})

/** The changes to other tables that the journal of a tenant needs. */
const changeTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A webhook reads the journals of mechanisms and that of its tenant, whose subject is the organization.
  yield* sql`alter table webhook_cursors drop constraint webhook_cursors_mechanism_id_fkey`
  yield* sql`alter table webhook_cursors rename column mechanism_id to subject_id`
  yield* sql`alter table webhook_held rename column mechanism_id to subject_id`
  yield* sql`alter table webhooks add column mailed_at timestamptz`

  // When webhooks got the opening and the closing of an experience. Those in the past are not reported.
  yield* sql`alter table experiences add column activated_at timestamptz, add column completed_at timestamptz`
  yield* sql`
    update experiences e set
      activated_at = case when w.open_at <= now() then w.open_at end,
      completed_at = case when w.close_at <= now() then w.close_at end
    from (
      select e.id, coalesce((e.record ->> 'openAt')::timestamptz, m.open_at) as open_at,
        coalesce((e.record ->> 'closeAt')::timestamptz, m.close_at) as close_at
      from experiences e cross join lateral (
        select min((configuration ->> 'openAt')::timestamptz) as open_at,
          max((configuration ->> 'closeAt')::timestamptz) as close_at
        from mechanisms where experience_id = e.id and not archived and kind <> 'waitlist'
      ) m
    ) w
    where w.id = e.id and (w.open_at <= now() or w.close_at <= now())`
  yield* sql`
    create index experiences_unfinished on experiences (id)
    where not archived and (activated_at is null or completed_at is null)`
})
