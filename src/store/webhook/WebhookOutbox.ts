/**
 * What webhooks still have to deliver. The source is the journal: nothing is written when an event is appended. A cursor
 * of each webhook into each mechanism's journal says how far it is done. Notifications behind the cursor that wait are
 * held in a table, so that a failing one does not delay others.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Event, Kind, MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import { eventsFor } from "../../domain/webhook/Catalogue.ts"
import type { Ordering, RetrySchedule } from "../../domain/webhook/Webhook.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"

/** Mechanisms with new events that are read in one round. */
const sourcesAtOnce = 50

/** Held lanes that are tried in one round, and notifications of each. */
const lanesAtOnce = 100
const heldAtOnce = 100

/** A webhook that has work. */
export interface Endpoint {
  readonly id: string
  readonly tenant: Tenant
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly ordering: Ordering
  readonly schedule: RetrySchedule
  /** The present secret, and after it the former one while both are valid. */
  readonly secrets: readonly [string, ...ReadonlyArray<string>]
  readonly failingSince: Millis | undefined
}

/** A mechanism with events after the webhook's cursor. */
export interface Source {
  readonly identity: MechanismIdentity
  readonly readUpTo: number
  readonly lastSequence: number
}

/** An event of the journal, as stored. */
export interface StoredEvent {
  readonly sequence: number
  readonly event: Event
}

/** A notification that waits for an attempt, or for the one before it in its lane. */
export interface Held {
  readonly mechanismId: string
  readonly sequence: number
  readonly part: number
  readonly id: string
  readonly type: string
  readonly lane: string
  readonly body: string
  readonly attempts: number
}

export class WebhookOutbox extends Context.Service<
  WebhookOutbox,
  {
    /** Returns the enabled webhooks with new events, or with a held notification that is due. */
    endpoints(now: Millis): Effect.Effect<ReadonlyArray<Endpoint>, Unavailable>
    /** Returns the mechanisms that have events after the webhook's cursor. */
    sources(endpoint: Endpoint): Effect.Effect<ReadonlyArray<Source>, Unavailable>
    /** Returns the events that the webhook subscribes to, after the cursor and up to `upTo`. */
    events(endpoint: Endpoint, source: Source, upTo: number): Effect.Effect<ReadonlyArray<StoredEvent>, Unavailable>
    /** Returns those of the lanes that hold notifications. */
    heldLanes(endpoint: Endpoint, lanes: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>, Unavailable>
    /** Returns the beginnings of the lanes that are due, each in order. */
    due(endpoint: Endpoint, now: Millis): Effect.Effect<ReadonlyArray<ReadonlyArray<Held>>, Unavailable>
    /** Returns the number of held notifications, at most `max`. */
    heldCount(endpoint: Endpoint, max: number): Effect.Effect<number, Unavailable>
  }
>()("usher/store/webhook/WebhookOutbox") {
  static readonly layer = Layer.effect(
    WebhookOutbox,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      /** True for mechanisms that have events after the cursor. The tables are `m`, `h`, `c` and the webhook `w`. */
      const fromJournals = sql`
        mechanisms m join mechanism_heads h on h.mechanism_id = m.id
        left join webhook_cursors c on c.webhook_id = w.id and c.mechanism_id = m.id
        where ${ofSameTenant(sql, "m", "w")} and h.sequence > coalesce(c.sequence, 0)`

      const endpoints = Effect.fnUntraced(function* (now: Millis) {
        const rows = yield* sql<EndpointRow>`
          select w.*, w.former_secret_until > ${new Date(now)} as overlaps from webhooks w
          where not w.archived and w.disabled_reason is null and (
            exists (select from webhook_held where webhook_id = w.id and retry_at <= ${new Date(now)})
            or exists (select from ${fromJournals})
          )
          order by w.id`
        return rows.map(toEndpoint)
      }, orUnavailable)

      const sources = Effect.fnUntraced(function* ({ id }: Endpoint) {
        const rows = yield* sql<SourceRow>`
          select found.* from webhooks w cross join lateral (
            select m.id, m.kind, m.organization_id, m.mode, m.experience_id, m.sequence_id,
              coalesce(c.sequence, 0)::float8 as read_up_to, h.sequence::float8 as last_sequence
            from ${fromJournals} limit ${sourcesAtOnce}
          ) found
          where w.id = ${id}`
        return rows.map(toSource)
      }, orUnavailable)

      const events = Effect.fnUntraced(function* (endpoint: Endpoint, source: Source, upTo: number) {
        const types = eventsFor(source.identity.kind, endpoint.events)
        if (types.length === 0) return []
        const rows = yield* sql<EventRow>`
          select sequence::float8 as sequence, at, type, consumer_id, data from journal
          where mechanism_id = ${source.identity.id} and sequence > ${source.readUpTo} and sequence <= ${upTo}
            and type = any(${types}::text[])
          order by sequence`
        return rows.map(toStoredEvent)
      }, orUnavailable)

      const heldLanes = Effect.fnUntraced(function* ({ id }: Endpoint, lanes: ReadonlyArray<string>) {
        const rows = yield* sql<{ readonly lane: string }>`
          select distinct lane from webhook_held where webhook_id = ${id} and lane = any(${lanes}::text[])`
        return new Set(rows.map(({ lane }) => lane))
      }, orUnavailable)

      const due = Effect.fnUntraced(function* ({ id }: Endpoint, now: Millis) {
        const rows = yield* sql<HeldRow>`
          select held.* from (
            select lane from webhook_held where webhook_id = ${id} and retry_at <= ${new Date(now)}
            order by retry_at limit ${lanesAtOnce}
          ) ready cross join lateral (
            select mechanism_id, sequence::float8 as sequence, part, event_id, type, lane, body, attempts
            from webhook_held where webhook_id = ${id} and lane = ready.lane
            order by sequence, part limit ${heldAtOnce}
          ) held
          order by held.lane, held.sequence, held.part`
        return [...Map.groupBy(rows.map(toHeld), ({ lane }) => lane).values()]
      }, orUnavailable)

      const heldCount = Effect.fnUntraced(function* ({ id }: Endpoint, max: number) {
        const rows = yield* sql<{ readonly count: number }>`
          select count(*)::int4 as count from (select from webhook_held where webhook_id = ${id} limit ${max}) held`
        return rows[0]!.count
      }, orUnavailable)

      return { endpoints, sources, events, heldLanes, due, heldCount }
    })
  )
}

/**
 * Moves the cursors of a webhook to the present. Call it in the transaction that creates or enables the webhook.
 */
export const beginWithNext = (sql: PgClient.PgClient, tenant: Tenant, webhookId: string) => sql`
  insert into webhook_cursors (webhook_id, mechanism_id, sequence)
  select ${webhookId}, m.id, h.sequence from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
  where ${ofTenant(sql, tenant, "m")}
  on conflict (webhook_id, mechanism_id) do update set sequence = excluded.sequence`

interface EndpointRow {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly url: string
  readonly record: {
    readonly events: ReadonlyArray<string>
    readonly ordering?: Ordering
    readonly schedule?: RetrySchedule
  }
  readonly secret: string
  readonly former_secret: string | null
  readonly overlaps: boolean | null
  readonly failing_since: Date | null
}

const toEndpoint = ({ record, ...row }: EndpointRow): Endpoint => ({
  id: row.id,
  tenant: { organizationId: row.organization_id, mode: row.mode },
  url: row.url,
  events: record.events,
  ordering: record.ordering ?? "consumer",
  schedule: record.schedule ?? "standard",
  secrets: row.overlaps === true && row.former_secret !== null ? [row.secret, row.former_secret] : [row.secret],
  failingSince: row.failing_since?.getTime()
})

interface SourceRow {
  readonly id: string
  readonly kind: Kind
  readonly organization_id: string
  readonly mode: Mode
  readonly experience_id: string
  readonly sequence_id: string
  readonly read_up_to: number
  readonly last_sequence: number
}

const toSource = (row: SourceRow): Source => ({
  identity: {
    id: row.id,
    kind: row.kind,
    organizationId: row.organization_id,
    mode: row.mode,
    experienceId: row.experience_id,
    sequenceId: row.sequence_id
  },
  readUpTo: row.read_up_to,
  lastSequence: row.last_sequence
})

interface EventRow {
  readonly sequence: number
  readonly at: Date
  readonly type: string
  readonly consumer_id: string | null
  readonly data: object | null
}

const toStoredEvent = ({ sequence, at, type, consumer_id, data }: EventRow): StoredEvent => ({
  sequence,
  event: { ...data, _tag: type, at: at.getTime(), ...(consumer_id !== null && { consumerId: consumer_id }) }
})

interface HeldRow extends Omit<Held, "id" | "mechanismId"> {
  readonly event_id: string
  readonly mechanism_id: string
}

const toHeld = ({ event_id, mechanism_id, ...row }: HeldRow): Held => ({
  ...row,
  id: event_id,
  mechanismId: mechanism_id
})
