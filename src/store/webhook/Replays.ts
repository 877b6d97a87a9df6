/**
 * The statements that set where a webhook continues: with the next event, with an earlier one, or with failed
 * deliveries.
 */
import type { PgClient } from "@effect/sql-pg"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** Deliveries that are sent again by one request. */
const replayedMax = 10_000

/** Moves the cursors of a webhook to the present. Call it in the transaction that creates or enables the webhook. */
export const beginWithNext = (sql: PgClient.PgClient, tenant: Tenant, webhookId: string) => sql`
  insert into webhook_cursors (webhook_id, subject_id, sequence)
  select ${webhookId}::uuid, m.id, h.sequence from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
  where ${ofTenant(sql, tenant, "m")}
  union all
  select ${webhookId}::uuid, t.organization_id, t.sequence from tenant_heads t where ${ofTenant(sql, tenant, "t")}
  on conflict (webhook_id, subject_id) do update set sequence = excluded.sequence`

/** Drops the notifications that wait. */
export const dropHeld = (sql: PgClient.PgClient, webhookId: string) =>
  sql`delete from webhook_held where webhook_id = ${webhookId}`

/** Where a replay begins: an instant, or the number that an event has in its journal. */
export type ReplayStart = Millis | { readonly sequence: number }

/** Moves the webhook's cursors back to the last event before the start. */
export const rewind = (sql: PgClient.PgClient, tenant: Tenant, id: string, from: ReplayStart) =>
  typeof from === "number" ? rewindToInstant(sql, tenant, id, from) : rewindToSequence(sql, id, from.sequence)

const rewindToSequence = (sql: PgClient.PgClient, id: string, sequence: number) => sql`
  update webhook_cursors set sequence = ${sequence - 1} where webhook_id = ${id} and sequence >= ${sequence}`

const rewindToInstant = (sql: PgClient.PgClient, tenant: Tenant, id: string, from: Millis) => sql`
  update webhook_cursors c set sequence = first.sequence - 1 from (
    select mechanism_id as subject_id, min(sequence) as sequence from journal
    where at >= ${new Date(from)} and mechanism_id in (select subject_id from webhook_cursors where webhook_id = ${id})
    group by mechanism_id
    union all
    select t.organization_id, min(t.sequence) from tenant_events t
    where ${ofTenant(sql, tenant, "t")} and t.at >= ${new Date(from)} group by t.organization_id
  ) first
  where c.webhook_id = ${id} and c.subject_id = first.subject_id and c.sequence >= first.sequence`

/** Holds the failed deliveries again, each in a lane of its own, since the events after it have been delivered. */
export const holdFailed = (sql: PgClient.PgClient, id: string, now: Millis) => sql`
  insert into webhook_held (webhook_id, subject_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  select webhook_id, coalesce(
      case when type like 'distribution.%' then body::jsonb -> 'data' ->> 'distribution_id' end, body::jsonb ->> 'organization_id'
    )::uuid, (body::jsonb ->> 'sequence')::int8, 0, event_id,
    type, event_id, body, 0, ${new Date(now)}
  from webhook_deliveries where webhook_id = ${id} and status = 'FAILED' order by created_at limit ${replayedMax}
  on conflict do nothing
  returning 1`
