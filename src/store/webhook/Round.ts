/** A round of deliveries to one webhook: the results, and the transaction that records them. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Held } from "./OutboxRows.ts"
import { noteFailed } from "./WebhookFailures.ts"

/** One attempt as the log shows it. */
export interface LoggedAttempt {
  readonly at: Millis
  readonly durationMillis: number
  readonly statusCode: number | null
  readonly body: string
}

/** The state of a delivery. */
export type DeliveryStatus = "DELIVERED" | "WAITING" | "FAILED"

/** A notification with its result. Without an attempt it waits for another one in its lane. */
export interface Result {
  readonly held: Held
  readonly status: DeliveryStatus
  readonly retryAt: Millis | null
  readonly attempt?: LoggedAttempt
}

/** The results of a round. */
export interface Round {
  readonly webhookId: string
  readonly results: ReadonlyArray<Result>
  /** The mechanisms whose events after `from` and up to `to` are delivered, failed or held. */
  readonly cursors: ReadonlyArray<{ readonly subjectId: string; readonly from: number; readonly to: number }>
  /** The state of the endpoint, if it changed. */
  readonly endpoint?: { readonly failingSince: Millis | null; readonly disabledReason: "GONE" | "FAILING" | null }
}

/** Creates the function that records a round in one transaction. */
export const makeRecord = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) =>
  Effect.fnUntraced(
    function* ({ webhookId, results, cursors, endpoint }: Round, now: Millis) {
      const done = results.filter(({ status }) => status !== "WAITING").map(({ held }) => held)
      const waiting = results.filter(({ status }) => status === "WAITING")
      const tried = results.filter(({ attempt }) => attempt !== undefined)
      yield* lock(sql, webhookId)
      if (done.length > 0) yield* removeHeld(sql, webhookId, done)
      if (waiting.length > 0) yield* hold(sql, webhookId, waiting)
      const lanes = [...new Set(results.map(({ held }) => held.lane))]
      if (lanes.length > 0) yield* release(sql, webhookId, lanes, now)
      if (tried.length > 0) yield* log(sql, random, webhookId, tried, now)
      yield* noteFailed(sql, webhookId, results, now)
      if (cursors.length > 0) yield* advance(sql, webhookId, cursors)
      if (endpoint !== undefined) yield* setState(sql, webhookId, endpoint)
    },
    sql.withTransaction,
    orUnavailable
  )

/**
 * Makes rounds of one webhook record one after another. A former holder of the lease may record its last round late. If
 * both saw the lane's earlier state, one would hold notifications behind others that the second removes.
 */
const lock = (sql: PgClient.PgClient, webhookId: string) => sql`select from webhooks where id = ${webhookId} for update`

/** Removes the notifications that are done. */
const removeHeld = (sql: PgClient.PgClient, webhookId: string, done: ReadonlyArray<Held>) => sql`
  delete from webhook_held held using unnest(
    ${done.map(({ lane }) => lane)}::text[], ${done.map(({ sequence }) => sequence)}::int8[],
    ${done.map(({ part }) => part)}::int2[]
  ) as settled (lane, sequence, part)
  where held.webhook_id = ${webhookId} and held.lane = settled.lane and held.sequence = settled.sequence
    and held.part = settled.part`

/** Holds the notifications that wait. An array of nulls alone has no type, so an absent time is an empty text. */
const hold = (sql: PgClient.PgClient, webhookId: string, results: ReadonlyArray<Result>) => sql`
  insert into webhook_held
    (webhook_id, subject_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  select ${webhookId}, subject_id, sequence, part, event_id, type, lane, body, attempts,
    nullif(retry_at, '')::timestamptz
  from unnest(
    ${results.map(({ held }) => held.subjectId)}::uuid[], ${results.map(({ held }) => held.sequence)}::int8[],
    ${results.map(({ held }) => held.part)}::int2[], ${results.map(({ held }) => held.id)}::text[],
    ${results.map(({ held }) => held.type)}::text[], ${results.map(({ held }) => held.lane)}::text[],
    ${results.map(({ held }) => held.body)}::text[], ${results.map(({ held }) => held.attempts)}::int2[],
    ${results.map(({ retryAt }) => (retryAt === null ? "" : toText(retryAt)))}::text[]
  ) as waiting (subject_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  on conflict (webhook_id, lane, sequence, part) do update set
    attempts = excluded.attempts, retry_at = excluded.retry_at`

/** Lets the first notification of each of these lanes be tried, if it waited for one that is done. */
const release = (sql: PgClient.PgClient, webhookId: string, lanes: ReadonlyArray<string>, now: Millis) => sql`
  update webhook_held held set retry_at = ${new Date(now)} from (
    select distinct on (lane) lane, sequence, part, retry_at from webhook_held
    where webhook_id = ${webhookId} and lane = any(${lanes}::text[]) order by lane, sequence, part
  ) first
  where held.webhook_id = ${webhookId} and held.lane = first.lane and held.sequence = first.sequence
    and held.part = first.part and first.retry_at is null`

/** Adds the attempts to the log. */
const log = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  webhookId: string,
  tried: ReadonlyArray<Result>,
  now: Millis
) {
  const ids = yield* Effect.forEach(tried, () => random.uuidV7())
  yield* sql`
    insert into webhook_deliveries as d
      (webhook_id, event_id, id, type, status, attempts, body, created_at, updated_at)
    select ${webhookId}, tried.event_id, tried.id, tried.type, tried.status, jsonb_build_array(tried.attempt),
      tried.body, ${new Date(now)}, ${new Date(now)}
    from unnest(
      ${tried.map(({ held }) => held.id)}::text[], ${ids}::uuid[], ${tried.map(({ held }) => held.type)}::text[],
      ${tried.map(({ status }) => status)}::text[],
      ${tried.map(({ attempt }) => JSON.stringify(attempt))}::jsonb[], ${tried.map(({ held }) => held.body)}::text[]
    ) as tried (event_id, id, type, status, attempt, body)
    on conflict (webhook_id, event_id) do update set
      status = excluded.status, attempts = d.attempts || excluded.attempts, updated_at = excluded.updated_at`
})

/** Moves the cursors, except those that a replay has moved back meanwhile. */
const advance = (sql: PgClient.PgClient, webhookId: string, cursors: Round["cursors"]) => sql`
  with moved as (
    select * from unnest(
      ${cursors.map(({ subjectId }) => subjectId)}::uuid[], ${cursors.map(({ from }) => from)}::int8[],
      ${cursors.map(({ to }) => to)}::int8[]
    ) as moved (subject_id, read_from, read_to)
  ), begun as (
    insert into webhook_cursors (webhook_id, subject_id, sequence)
    select ${webhookId}, subject_id, read_to from moved where read_from = 0
    on conflict do nothing
  )
  update webhook_cursors c set sequence = moved.read_to from moved
  where c.webhook_id = ${webhookId} and c.subject_id = moved.subject_id and c.sequence = moved.read_from`

const setState = (
  sql: PgClient.PgClient,
  webhookId: string,
  { failingSince, disabledReason }: NonNullable<Round["endpoint"]>
) => sql`
  update webhooks set failing_since = ${failingSince === null ? null : new Date(failingSince)},
    disabled_reason = coalesce(disabled_reason, ${disabledReason})
  where id = ${webhookId}`
