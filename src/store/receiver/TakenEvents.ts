/** Taking received events: one process handles an event at a time, and another one only after `takenSeconds`. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { AdapterName } from "../../domain/receiver/Adapter.ts"
import type { Adjustment } from "../../domain/receiver/Meaning.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** An event that a process has taken. */
export interface TakenEvent {
  readonly receiverId: string
  readonly tenant: Tenant
  readonly adapter: AdapterName
  /** Of the receiver. */
  readonly allowedAdjustments: ReadonlyArray<Adjustment>
  readonly eventId: string
  readonly type: string
  readonly body: string
  /** With this one. */
  readonly attempts: number
  /** When it was due. */
  readonly dueAt: Millis
}

/** Events of one receiver that a process takes at once. */
const takenAtOnce = 20

/** Seconds after which another process may take an event whose process has died. */
const takenSeconds = 20

/** Makes `ReceivedEvents.take`. */
export const makeTake = (sql: PgClient.PgClient) =>
  Effect.fn("ReceivedEvents.take")(function* (now: Millis, except: ReadonlyArray<string> = []) {
    const isDue = sql`next_at <= ${new Date(now)}`
    const rows = yield* sql<TakenRow>`
      update received_events e set attempts = e.attempts + 1, next_at = ${new Date(now + takenSeconds * 1_000)}
      from (
        select receiver_id, event_id, next_at as due_at from received_events
        where ${isDue} and receiver_id = (
          select receiver_id from received_events where ${isDue} and receiver_id <> all(${except}::uuid[])
          order by next_at, id limit 1 for update skip locked
        )
        order by next_at, id limit ${takenAtOnce} for update skip locked
      ) due
      join receivers r on r.id = due.receiver_id
      where e.receiver_id = due.receiver_id and e.event_id = due.event_id
      returning e.*, due.due_at, r.organization_id, r.mode, r.adapter, r.record -> 'allowedAdjustments' as allowed`
    return rows.toSorted(inOrder).map((row): TakenEvent => ({
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

const inOrder = (one: TakenRow, other: TakenRow): number =>
  one.due_at.getTime() - other.due_at.getTime() || (one.id < other.id ? -1 : 1)

/** Makes `ReceivedEvents.release`. */
export const makeRelease = (sql: PgClient.PgClient) =>
  Effect.fn("ReceivedEvents.release")(function* (events: ReadonlyArray<TakenEvent>) {
    yield* sql`
      update received_events e set attempts = e.attempts - 1, next_at = taken.due_at
      from unnest(
        ${events.map(({ receiverId }) => receiverId)}::uuid[], ${events.map(({ eventId }) => eventId)}::text[],
        ${events.map(({ attempts }) => attempts)}::int2[], ${events.map(({ dueAt }) => toText(dueAt))}::timestamptz[]
      ) as taken (receiver_id, event_id, attempts, due_at)
      where e.receiver_id = taken.receiver_id and e.event_id = taken.event_id and e.attempts = taken.attempts
        and e.status = 'WAITING'`
  }, orUnavailable)

interface TakenRow {
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
