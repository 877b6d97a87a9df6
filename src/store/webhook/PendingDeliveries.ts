/**
 * The deliveries of webhooks that wait, in lanes (table `webhook_held`). Of each lane only the first delivery has a time
 * at which it is due (`retry_at`). The others wait behind it, in the order of the journal.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { type DeliveryForm, testEventPrefix } from "../../domain/webhook/Webhook.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** Lanes that are tried in one round, and deliveries of each. */
const lanesMax = 100
const lanePartMax = 100

/** The same where a delivery is a batch, whose body is larger. */
const batchLanesMax = 10
const batchLanePartMax = 10

/** Deliveries that one request sends again. */
const replayedMax = 10_000

/** A notification in its lane that is not delivered yet. `sequence` and `part` order those of one journal. */
export interface PendingDelivery {
  /** The journal: the id of a mechanism, or of the organization. */
  readonly subjectId: string
  readonly sequence: number
  readonly part: number
  /** The id of the event, the same for every attempt. */
  readonly id: string
  readonly type: string
  readonly lane: string
  readonly body: string
  /** Attempts made so far. */
  readonly attempts: number
}

/** A delivery that waits until `retryAt`; null: behind another one of its lane. */
export interface WaitingDelivery {
  readonly delivery: PendingDelivery
  readonly retryAt: Millis | null
}

/** A webhook, as far as its lanes are concerned. */
interface Recipient {
  readonly id: string
  readonly delivery: DeliveryForm
}

/** Creates the functions that read waiting deliveries (`WebhookOutbox`). */
export const makeReadPending = (sql: PgClient.PgClient) => {
  const waitingLanes = Effect.fnUntraced(function* ({ id }: Recipient, lanes: ReadonlyArray<string>) {
    const rows = yield* sql<{ readonly lane: string }>`
      select distinct lane from webhook_held where webhook_id = ${id} and lane = any(${lanes}::text[])`
    return new Set(rows.map(({ lane }) => lane))
  }, orUnavailable)

  const due = Effect.fnUntraced(function* ({ id, delivery }: Recipient, now: Millis) {
    const [lanes, partMax] = delivery === "batches" ? [batchLanesMax, batchLanePartMax] : [lanesMax, lanePartMax]
    const rows = yield* sql<PendingRow>`
      select held.* from (
        select lane from webhook_held where webhook_id = ${id} and retry_at <= ${new Date(now)}
        order by retry_at limit ${lanes}
      ) ready cross join lateral (
        select subject_id, sequence::float8 as sequence, part, event_id, type, lane, body, attempts
        from webhook_held where webhook_id = ${id} and lane = ready.lane
        order by sequence, part limit ${partMax}
      ) held
      order by held.lane, held.sequence, held.part`
    return [...Map.groupBy(rows.map(toPending), ({ lane }) => lane).values()]
  }, orUnavailable)

  const waitingCount = Effect.fnUntraced(function* ({ id }: Recipient, max: number) {
    const rows = yield* sql<{ readonly count: number }>`
      select count(*)::int4 as count from (select from webhook_held where webhook_id = ${id} limit ${max}) held`
    return rows[0]!.count
  }, orUnavailable)

  return { waitingLanes, due, waitingCount }
}

/** Removes deliveries that are done. */
export const remove = (sql: PgClient.PgClient, webhookId: string, done: ReadonlyArray<PendingDelivery>) => sql`
  delete from webhook_held held using unnest(
    ${done.map(({ lane }) => lane)}::text[], ${done.map(({ sequence }) => sequence)}::int8[],
    ${done.map(({ part }) => part)}::int2[]
  ) as settled (lane, sequence, part)
  where held.webhook_id = ${webhookId} and held.lane = settled.lane and held.sequence = settled.sequence
    and held.part = settled.part`

/** Writes deliveries that wait. An array of nulls alone has no type, so an absent time is an empty text. */
export const put = (sql: PgClient.PgClient, webhookId: string, waiting: ReadonlyArray<WaitingDelivery>) => sql`
  insert into webhook_held
    (webhook_id, subject_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  select ${webhookId}, subject_id, sequence, part, event_id, type, lane, body, attempts,
    nullif(retry_at, '')::timestamptz
  from unnest(
    ${waiting.map(({ delivery }) => delivery.subjectId)}::uuid[],
    ${waiting.map(({ delivery }) => delivery.sequence)}::int8[],
    ${waiting.map(({ delivery }) => delivery.part)}::int2[], ${waiting.map(({ delivery }) => delivery.id)}::text[],
    ${waiting.map(({ delivery }) => delivery.type)}::text[], ${waiting.map(({ delivery }) => delivery.lane)}::text[],
    ${waiting.map(({ delivery }) => delivery.body)}::text[],
    ${waiting.map(({ delivery }) => delivery.attempts)}::int2[],
    ${waiting.map(({ retryAt }) => (retryAt === null ? "" : toText(retryAt)))}::text[]
  ) as waiting (subject_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  on conflict (webhook_id, lane, sequence, part) do update set
    attempts = excluded.attempts, retry_at = excluded.retry_at`

/** Makes the first delivery of each of these lanes due, if it waited for one that is done. */
export const advanceLanes = (sql: PgClient.PgClient, webhookId: string, lanes: ReadonlyArray<string>, now: Millis) =>
  sql`
    update webhook_held held set retry_at = ${new Date(now)} from (
      select distinct on (lane) lane, sequence, part, retry_at from webhook_held
      where webhook_id = ${webhookId} and lane = any(${lanes}::text[]) order by lane, sequence, part
    ) first
    where held.webhook_id = ${webhookId} and held.lane = first.lane and held.sequence = first.sequence
      and held.part = first.part and first.retry_at is null`

/** Drops all deliveries of the webhook that wait. */
export const dropAll = (sql: PgClient.PgClient, webhookId: string) =>
  sql`delete from webhook_held where webhook_id = ${webhookId}`

/** Puts failed deliveries back, each into a lane of its own, since the events after it have been delivered. */
export const putFailed = (sql: PgClient.PgClient, id: string, now: Millis) => sql`
  insert into webhook_held (webhook_id, subject_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  select webhook_id, coalesce(
      case when type like 'distribution.%' then body::jsonb -> 'data' ->> 'distribution_id' end, body::jsonb ->> 'organization_id'
    )::uuid, (body::jsonb ->> 'sequence')::int8, 0, event_id,
    type, event_id, body, 0, ${new Date(now)}
  from webhook_deliveries
  where webhook_id = ${id} and status = 'FAILED' and event_id not like ${`${testEventPrefix}%`} order by created_at limit ${replayedMax}
  on conflict do nothing
  returning 1`

interface PendingRow extends Omit<PendingDelivery, "id" | "subjectId"> {
  readonly event_id: string
  readonly subject_id: string
}

const toPending = ({ event_id, subject_id, ...row }: PendingRow): PendingDelivery => ({
  ...row,
  id: event_id,
  subjectId: subject_id
})
