/**
 * The results of webhook deliveries: cursors, deliveries that wait, and a log with every attempt of the last 30 days. The
 * results of a round are written in one transaction. A process that dies before it sends the round's notifications again.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { deliveryDays } from "../../domain/organization/Retention.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { deliverySorts, failureRecipientsMax } from "../../domain/webhook/Webhook.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"
import { advanceLanes, type PendingDelivery, put, remove, type WaitingDelivery } from "./PendingDeliveries.ts"

/** Between two mails about one webhook. */
const mailIntervalMillis = 3_600_000

/** Deliveries that are removed in one statement. */
const removedAtOnce = 5_000

/** One attempt as the log shows it. */
export interface LoggedAttempt {
  readonly at: Millis
  readonly durationMillis: number
  readonly statusCode: number | null
  readonly body: string
}

/** The state of a delivery. */
export type DeliveryStatus = "DELIVERED" | "WAITING" | "FAILED"

/** A delivery after a round. Without an attempt it waits for another one in its lane. */
export interface DeliveryResult extends WaitingDelivery {
  readonly status: DeliveryStatus
  readonly attempt?: LoggedAttempt
}

/** The results of a round. */
export interface Round {
  readonly webhookId: string
  readonly results: ReadonlyArray<DeliveryResult>
  /** The journals whose events after `from` and up to `to` are delivered, have failed, or wait. */
  readonly cursors: ReadonlyArray<{ readonly subjectId: string; readonly from: number; readonly to: number }>
  /** The state of the endpoint, if it changed. */
  readonly endpoint?: { readonly failingSince: Millis | null; readonly disabledReason: "GONE" | "FAILING" | null }
}

/** The addresses for mail about a webhook. */
export interface WebhookOwner {
  readonly tenant: Tenant
  /** The organization's address for operations; without one those of the admins of its dashboard. At least one. */
  readonly to: ReadonlyArray<string>
  /** The host of the webhook's address. */
  readonly host: string
}

/** A delivery in the log. */
export interface LoggedDelivery {
  readonly id: string
  readonly eventId: string
  readonly type: string
  readonly status: DeliveryStatus
  readonly attempts: ReadonlyArray<LoggedAttempt>
  readonly body: string
  readonly createdAt: Millis
  readonly updatedAt: Millis
}

/** The log of a webhook. */
export const shape = listShape("webhook deliveries", "d", deliverySorts, { createdAt: "timestamptz" })

export class WebhookDeliveries extends Context.Service<
  WebhookDeliveries,
  {
    /** Records the results of a round. */
    record(round: Round, now: Millis): Effect.Effect<void, Unavailable>
    /** Adds a test event to the log. Nothing sends it again. */
    recordTest(
      webhookId: string,
      event: Pick<PendingDelivery, "id" | "type" | "body">,
      attempt: LoggedAttempt,
      isDelivered: boolean
    ): Effect.Effect<void, Unavailable>
    /**
     * Claims the webhook's mail of this hour. Returns its recipients; undefined if the organization has no address for
     * it, or had a mail about the webhook within the last hour.
     */
    claimMail(webhookId: string, now: Millis): Effect.Effect<WebhookOwner | undefined, Unavailable>
    /** Returns a page of the webhook's log; empty if the webhook is not the tenant's. */
    list(
      tenant: Tenant,
      webhookId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: { readonly status?: DeliveryStatus | undefined }
    ): Effect.Effect<Page<LoggedDelivery>, PageRefused | Unavailable>
    /** Removes deliveries that are older than the log, at most some thousand. Returns how many. */
    removeOld(now: Millis): Effect.Effect<number, Unavailable>
  }
>()("usher/store/webhook/WebhookDeliveries") {
  static readonly layer = Layer.effect(WebhookDeliveries)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const readPage = yield* makeReadPage(shape, toDelivery)

      const list = Effect.fn("WebhookDeliveries.list")(function* (
        tenant: Tenant,
        webhookId: string,
        query: PageQuery<keyof typeof shape.sorts>,
        { status }: { readonly status?: DeliveryStatus | undefined }
      ) {
        return yield* readPage(tenant, query, {
          filter: { webhookId, status },
          fields: sql`d.*`,
          from: sql`webhook_deliveries d`,
          where: sql.and([
            sql`d.webhook_id = ${webhookId}`,
            sql`exists (select from webhooks where id = ${webhookId} and ${ofTenant(sql, tenant)})`,
            ...equal(sql, { "d.status": status })
          ])
        })
      }, orUnavailable)

      const removeOld = (now: Millis) =>
        sql`
          delete from webhook_deliveries where (webhook_id, event_id) in (
            select webhook_id, event_id from webhook_deliveries
            where created_at < ${new Date(now - deliveryDays * 86_400_000)} order by created_at limit ${removedAtOnce}
          ) returning 1`.pipe(
          Effect.map((rows) => rows.length),
          orUnavailable
        )

      const recordTest = (
        webhookId: string,
        delivery: Pick<PendingDelivery, "id" | "type" | "body">,
        attempt: LoggedAttempt,
        isDelivered: boolean
      ) => {
        const tried = { delivery, attempt, status: isDelivered ? "DELIVERED" : "FAILED" } as const
        return log(sql, random, webhookId, [tried], attempt.at).pipe(Effect.asVoid, orUnavailable)
      }

      return { record: makeRecord(sql, random), recordTest, claimMail: makeClaimMail(sql), list, removeOld }
    })
  )
}

const makeRecord = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) =>
  Effect.fnUntraced(
    function* ({ webhookId, results, cursors, endpoint }: Round, now: Millis) {
      const done = results.filter(({ status }) => status !== "WAITING").map(({ delivery }) => delivery)
      const waiting = results.filter(({ status }) => status === "WAITING")
      const tried = results.filter(({ attempt }) => attempt !== undefined)
      yield* lock(sql, webhookId)
      if (done.length > 0) yield* remove(sql, webhookId, done)
      if (waiting.length > 0) yield* put(sql, webhookId, waiting)
      const lanes = [...new Set(results.map(({ delivery }) => delivery.lane))]
      if (lanes.length > 0) yield* advanceLanes(sql, webhookId, lanes, now)
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
 * both saw the lane's earlier state, one would put deliveries behind others that the second removes.
 */
const lock = (sql: PgClient.PgClient, webhookId: string) => sql`select from webhooks where id = ${webhookId} for update`

/** A delivery with an attempt, as far as the log is concerned. */
interface Tried extends Pick<DeliveryResult, "status" | "attempt"> {
  readonly delivery: Pick<PendingDelivery, "id" | "type" | "body">
}

/** Adds the attempts to the log. */
const log = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  webhookId: string,
  tried: ReadonlyArray<Tried>,
  now: Millis
) {
  const ids = yield* Effect.forEach(tried, () => random.uuidV7())
  yield* sql`
    insert into webhook_deliveries as d
      (webhook_id, event_id, id, type, status, attempts, body, created_at, updated_at)
    select ${webhookId}, tried.event_id, tried.id, tried.type, tried.status, jsonb_build_array(tried.attempt),
      tried.body, ${new Date(now)}, ${new Date(now)}
    from unnest(
      ${tried.map(({ delivery }) => delivery.id)}::text[], ${ids}::uuid[],
      ${tried.map(({ delivery }) => delivery.type)}::text[], ${tried.map(({ status }) => status)}::text[],
      ${tried.map(({ attempt }) => JSON.stringify(attempt))}::jsonb[],
      ${tried.map(({ delivery }) => delivery.body)}::text[]
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

/**
 * Records the permanently failed deliveries of a round, as one event. Failed notifications of failures are left out,
 * because two failing webhooks would report each other forever.
 */
const noteFailed = (
  sql: PgClient.PgClient,
  webhookId: string,
  results: Round["results"],
  now: Millis
): Effect.Effect<unknown, SqlError> => {
  const failed = results.filter(({ status, delivery }) => status === "FAILED" && !delivery.type.startsWith("webhook."))
  const first = failed[0]?.delivery
  if (first === undefined) return Effect.void
  const after = { failedDeliveries: failed.length, eventId: first.id, eventType: first.type }
  return sql`
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    select w.organization_id, w.mode, ${new Date(now)}, 'webhook.failed', 'system', w.id,
      ${sql.json({ changed: [], before: {}, after })}
    from webhooks w where w.id = ${webhookId}`
}

const makeClaimMail = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (webhookId: string, now: Millis) {
    const rows = yield* sql<OwnerRow>`
      with found as (
        select w.id, case when o.settings ->> 'operationsEmail' is not null then array[o.settings ->> 'operationsEmail'] else array(
          select p.email from people p
          where ${ofSameTenant(sql, "p", "w")} and p.role = 'admin' and not p.archived
          order by p.created_at, p.id limit ${failureRecipientsMax}
        ) end as addresses
        from webhooks w join organizations o on o.id = w.organization_id where w.id = ${webhookId}
      )
      update webhooks w set mailed_at = ${new Date(now)} from found
      where w.id = found.id and cardinality(found.addresses) > 0
        and (w.mailed_at is null or w.mailed_at <= ${new Date(now - mailIntervalMillis)})
      returning w.organization_id, w.mode, w.url, found.addresses`
    return rows[0] && toOwner(rows[0])
  }, orUnavailable)

interface OwnerRow {
  readonly organization_id: string
  readonly mode: Mode
  readonly url: string
  readonly addresses: ReadonlyArray<string>
}

const toOwner = ({ organization_id, mode, url, addresses }: OwnerRow): WebhookOwner => ({
  tenant: { organizationId: organization_id, mode },
  to: addresses,
  host: URL.parse(url)?.host ?? ""
})

/** The state of all webhooks for operators: the greatest delay, and the disabled ones. */
export interface Backlog {
  /** When the oldest notification that waits for another attempt was first tried; undefined if none waits. */
  readonly oldestAt: Millis | undefined
  /** Webhooks that are disabled, by reason. */
  readonly disabled: ReadonlyArray<readonly [reason: string, count: number]>
}

/** Reads the backlog of all organizations. Disabled webhooks have none: nothing is delivered to them. */
export const backlog = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [oldest] = yield* sql<{ readonly at: Date | null }>`
    select min(d.created_at) as at from webhooks w
      join webhook_held h on h.webhook_id = w.id and h.retry_at is not null
      join webhook_deliveries d on d.webhook_id = h.webhook_id and d.event_id = h.event_id
    where not w.archived and w.disabled_reason is null`
  const disabled = yield* sql<{ readonly reason: string; readonly count: number }>`
    select disabled_reason as reason, count(*)::int4 as count from webhooks
    where not archived and disabled_reason is not null group by disabled_reason`
  return {
    oldestAt: oldest?.at?.getTime(),
    disabled: disabled.map(({ reason, count }) => [reason, count] as const)
  } satisfies Backlog
}).pipe(orUnavailable)

interface DeliveryRow {
  readonly id: string
  readonly event_id: string
  readonly type: string
  readonly status: DeliveryStatus
  readonly attempts: ReadonlyArray<LoggedAttempt>
  readonly body: string
  readonly created_at: Date
  readonly updated_at: Date
}

const toDelivery = (row: DeliveryRow): LoggedDelivery => ({
  id: row.id,
  eventId: row.event_id,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  body: row.body,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime()
})
