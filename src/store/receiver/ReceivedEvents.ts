/**
 * The events that receivers got. An event is written once, whatever the number of requests that bring it. It is taken by
 * one process at a time: taking it sets its next attempt to the time at which another process may take it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { InboundEvent } from "../../domain/receiver/Adapter.ts"
import { type Outcome, type ReceivedStatus, receivedEventSorts } from "../../domain/receiver/Receiver.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { makeRelease, makeTake, type TakenEvent } from "./TakenEvents.ts"

/** The result of an attempt. An event that waits has its next attempt at `nextAt`. */
export type Settled =
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
     * Takes due events of one receiver, the one with the oldest, in the order in which they were due. No other process
     * takes them for `takenSeconds`.
     *
     * @param except receivers whose events are not taken
     */
    take(now: Millis, except?: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<TakenEvent>, Unavailable>
    /** Gives events back whose attempt has not begun. They are due as before. */
    release(events: ReadonlyArray<TakenEvent>): Effect.Effect<void, Unavailable>
    /**
     * Writes the result of an attempt. With `attention` the tenant's journal gets `order.needs_attention` in the same
     * transaction. Returns false, and writes nothing, if another process has taken the event since.
     */
    settle(event: TakenEvent, settled: Settled, attention?: Attention): Effect.Effect<boolean, Unavailable>
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

      return { record, take: makeTake(sql), release: makeRelease(sql), settle: makeSettle(sql), list }
    })
  )
}

const makeSettle = (sql: PgClient.PgClient) =>
  Effect.fn("ReceivedEvents.settle")(
    function* ({ receiverId, eventId, attempts, tenant }: TakenEvent, settled: Settled, attention?: Attention) {
      const written = yield* sql`
        update received_events
        set status = ${settled.status}, outcome = ${settled.outcome},
          next_at = ${settled.status === "WAITING" ? new Date(settled.nextAt) : null}
        where receiver_id = ${receiverId} and event_id = ${eventId} and attempts = ${attempts}
          and status = 'WAITING'
        returning 1`
      if (written.length === 0 || attention === undefined) return written.length > 0
      const after = { reason: settled.outcome, receiverId, receivedEventId: eventId }
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
