/**
 * The events that receivers got. An event is written once, whatever the number of requests that bring it. One process at
 * a time claims it: a claim sets the next attempt to the time at which another process may claim the event.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AdapterName, InboundEvent } from "../../domain/receiver/Adapter.ts"
import type { Adjustment } from "../../domain/receiver/Meaning.ts"
import { type Outcome, type ReceivedStatus, receivedEventSorts } from "../../domain/receiver/Receiver.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** An event that a process has claimed. */
export interface ClaimedEvent {
  readonly receiverId: string
  readonly tenant: Tenant
  readonly adapter: AdapterName
  /** What the receiver lets a payment differ by. */
  readonly allowedAdjustments: ReadonlyArray<Adjustment>
  readonly eventId: string
  readonly type: string
  readonly body: string
  /** Attempts made, with the present one. */
  readonly attempts: number
  /** When it was due. */
  readonly dueAt: Millis
}

/** Events of one receiver that a process claims at once. */
const claimedAtOnce = 20

/** Seconds after which another process may claim an event whose process has died. */
const claimSeconds = 20

/** The result of an attempt. An event that waits has its next attempt at `nextAt`. */
export type AttemptResult =
  | { readonly status: "WAITING"; readonly nextAt: Millis; readonly outcome: Outcome }
  | { readonly status: Exclude<ReceivedStatus, "WAITING">; readonly outcome: Outcome }

/** The order that a person has to look at, if there is one. */
export interface Attention {
  readonly orderId?: string
}

/** An event in the log of a receiver. */
export interface LoggedEvent {
  readonly id: string
  readonly eventId: string
  readonly type: string
  readonly status: ReceivedStatus
  readonly outcome: Outcome | null
  readonly attempts: number
  readonly at: Millis
  readonly receivedAt: Millis
  readonly nextAttemptAt: Millis | null
}

/** The log of a receiver. */
export const shape = listShape("received events", "v", receivedEventSorts, { receivedAt: "timestamptz" })

export class ReceivedEvents extends Context.Service<
  ReceivedEvents,
  {
    /** Writes the events that are not known yet. Returns how many. */
    record(receiverId: string, events: ReadonlyArray<InboundEvent>, now: Millis): Effect.Effect<number, Unavailable>
    /**
     * Claims due events of one receiver, the one with the oldest, in the order in which they were due. No other process
     * claims them for `claimSeconds`.
     *
     * @param except receivers whose events are not claimed
     */
    claim(now: Millis, except?: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<ClaimedEvent>, Unavailable>
    /** Gives events back whose attempt has not begun. They are due as before. */
    release(events: ReadonlyArray<ClaimedEvent>): Effect.Effect<void, Unavailable>
    /**
     * Writes the result of an attempt. With `attention` the tenant's journal gets `order.needs_attention` in the same
     * transaction. Returns false, and writes nothing, if another process has claimed the event since.
     */
    settle(event: ClaimedEvent, result: AttemptResult, attention?: Attention): Effect.Effect<boolean, Unavailable>
    /** Returns a page of the receiver's log; empty if the receiver is not the tenant's. */
    list(
      tenant: Tenant,
      receiverId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: { readonly status?: ReceivedStatus | undefined }
    ): Effect.Effect<Page<LoggedEvent>, PageRefused | Unavailable>
  }
>()("usher/store/receiver/ReceivedEvents") {
  static readonly layer = Layer.effect(ReceivedEvents)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const readPage = yield* makeReadPage(shape, toLogged)

      const record = Effect.fn("ReceivedEvents.record")(function* (
        receiverId: string,
        events: ReadonlyArray<InboundEvent>,
        now: Millis
      ) {
        if (events.length === 0) return 0
        // Events of one request are handled in its order.
        const ids = (yield* Effect.forEach(events, () => random.uuidV7())).toSorted()
        const written = yield* sql`
          insert into received_events
            (receiver_id, event_id, id, type, at, received_at, body, status, attempts, next_at)
          select ${receiverId}, event_id, id, type, at, ${new Date(now)}, body, 'WAITING', 0, ${new Date(now)}
          from unnest(
            ${events.map(({ id }) => id)}::text[], ${ids}::uuid[], ${events.map(({ type }) => type)}::text[],
            ${events.map(({ at }) => toText(at))}::timestamptz[], ${events.map(({ body }) => body)}::text[]
          ) as received (event_id, id, type, at, body)
          order by event_id
          on conflict (receiver_id, event_id) do nothing returning 1`
        return written.length
      }, orUnavailable)

      const list = Effect.fn("ReceivedEvents.list")(function* (
        tenant: Tenant,
        receiverId: string,
        query: PageQuery<keyof typeof shape.sorts>,
        { status }: { readonly status?: ReceivedStatus | undefined }
      ) {
        return yield* readPage(tenant, query, {
          filter: { receiverId, status },
          fields: sql`v.*`,
          from: sql`received_events v`,
          where: sql.and([
            sql`v.receiver_id = ${receiverId}`,
            sql`exists (select from receivers where id = ${receiverId} and ${ofTenant(sql, tenant)})`,
            ...equal(sql, { "v.status": status })
          ])
        })
      }, orUnavailable)

      return { record, claim: makeClaim(sql), release: makeRelease(sql), settle: makeSettle(sql), list }
    })
  )
}

const makeClaim = (sql: PgClient.PgClient) =>
  Effect.fn("ReceivedEvents.claim")(function* (now: Millis, except: ReadonlyArray<string> = []) {
    const isDue = sql`next_at <= ${new Date(now)}`
    const rows = yield* sql<ClaimedRow>`
      update received_events e set attempts = e.attempts + 1, next_at = ${new Date(now + claimSeconds * 1_000)}
      from (
        select receiver_id, event_id, next_at as due_at from received_events
        where ${isDue} and receiver_id = (
          select receiver_id from received_events where ${isDue} and receiver_id <> all(${except}::uuid[])
          order by next_at, id limit 1 for update skip locked
        )
        order by next_at, id limit ${claimedAtOnce} for update skip locked
      ) due
      join receivers r on r.id = due.receiver_id
      where e.receiver_id = due.receiver_id and e.event_id = due.event_id
      returning e.*, due.due_at, r.organization_id, r.mode, r.adapter, r.record -> 'allowedAdjustments' as allowed`
    return rows.toSorted(inOrder).map((row): ClaimedEvent => ({
      receiverId: row.receiver_id,
      tenant: { organizationId: row.organization_id, mode: row.mode },
      adapter: row.adapter,
      allowedAdjustments: row.allowed ?? [],
      eventId: row.event_id,
      type: row.type,
      body: row.body,
      attempts: row.attempts,
      dueAt: row.due_at.getTime()
    }))
  }, orUnavailable)

const inOrder = (one: ClaimedRow, other: ClaimedRow): number =>
  one.due_at.getTime() - other.due_at.getTime() || (one.id < other.id ? -1 : 1)

const makeRelease = (sql: PgClient.PgClient) =>
  Effect.fn("ReceivedEvents.release")(function* (events: ReadonlyArray<ClaimedEvent>) {
    yield* sql`
      update received_events e set attempts = e.attempts - 1, next_at = claimed.due_at
      from unnest(
        ${events.map(({ receiverId }) => receiverId)}::uuid[], ${events.map(({ eventId }) => eventId)}::text[],
        ${events.map(({ attempts }) => attempts)}::int2[], ${events.map(({ dueAt }) => toText(dueAt))}::timestamptz[]
      ) as claimed (receiver_id, event_id, attempts, due_at)
      where e.receiver_id = claimed.receiver_id and e.event_id = claimed.event_id and e.attempts = claimed.attempts
        and e.status = 'WAITING'`
  }, orUnavailable)

const makeSettle = (sql: PgClient.PgClient) =>
  Effect.fn("ReceivedEvents.settle")(
    function* ({ receiverId, eventId, attempts, tenant }: ClaimedEvent, result: AttemptResult, attention?: Attention) {
      const written = yield* sql`
        update received_events
        set status = ${result.status}, outcome = ${result.outcome},
          next_at = ${result.status === "WAITING" ? new Date(result.nextAt) : null}
        where receiver_id = ${receiverId} and event_id = ${eventId} and attempts = ${attempts}
          and status = 'WAITING'
        returning 1`
      if (written.length === 0 || attention === undefined) return written.length > 0
      const after = { reason: result.outcome, receiverId, receivedEventId: eventId }
      yield* noteAttention(sql, tenant, after, attention)
      return true
    },
    sql.withTransaction,
    orUnavailable
  )

/** Notes `order.needs_attention` about the order; about the receiver if no order is known. */
const noteAttention = (
  sql: PgClient.PgClient,
  tenant: Tenant,
  after: { readonly reason: Outcome; readonly receiverId: string; readonly receivedEventId: string },
  { orderId }: Attention
) => sql`
  insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
  select r.organization_id, r.mode, clock_timestamp(), 'order.needs_attention', 'receiver:' || r.id,
    coalesce(o.id, r.id), ${sql.json({ changed: [], before: {}, after })} || jsonb_build_object('context',
      jsonb_strip_nulls(jsonb_build_object(
        'orderId', o.id, 'consumerId', o.consumer_id, 'experienceId', o.experience_id, 'sequenceId', o.sequence_id,
        'distributionId', o.distribution_id, 'status', o.status, 'currencyCode', o.currency_code,
        'total', trim_scale(o.total)::text, 'grantLapsed', o.grant_lapsed
      ))
    )
  from receivers r left join orders o on o.id = ${orderId ?? null}::uuid and ${ofTenant(sql, tenant, "o")}
  where r.id = ${after.receiverId} and ${ofTenant(sql, tenant, "r")}`

interface ClaimedRow {
  readonly receiver_id: string
  readonly event_id: string
  readonly id: string
  readonly type: string
  readonly body: string
  readonly attempts: number
  readonly organization_id: string
  readonly mode: Mode
  readonly adapter: AdapterName
  readonly allowed: ReadonlyArray<Adjustment> | null
  readonly due_at: Date
}

interface EventRow {
  readonly receiver_id: string
  readonly event_id: string
  readonly id: string
  readonly type: string
  readonly at: Date
  readonly received_at: Date
  readonly body: string
  readonly status: ReceivedStatus
  readonly attempts: number
  readonly next_at: Date | null
  readonly outcome: Outcome | null
}

const toLogged = (row: EventRow): LoggedEvent => ({
  id: row.id,
  eventId: row.event_id,
  type: row.type,
  status: row.status,
  outcome: row.outcome,
  attempts: row.attempts,
  at: row.at.getTime(),
  receivedAt: row.received_at.getTime(),
  nextAttemptAt: row.next_at?.getTime() ?? null
})
