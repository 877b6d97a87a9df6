/**
 * The outstanding deliveries of webhooks. The sources are the journals of mechanisms and of tenants: an append writes
 * nothing more for them. Each webhook has a cursor into each journal, up to which it is done. Waiting notifications
 * behind the cursor are held in a table, so that a failing one does not delay others.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { RecordedChange } from "../../domain/organization/TenantEvent.ts"
import { eventsFor } from "../../domain/webhook/Catalogue.ts"
import { changesFor } from "../../domain/webhook/RecordCatalogue.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { onlyProduct, selectedProduct } from "./EventProducts.ts"
import {
  type ChangeRow,
  type Endpoint,
  type EndpointRow,
  type EventRow,
  type Held,
  type HeldRow,
  type MechanismSource,
  type Source,
  type SourceRow,
  type StoredEvent,
  type TenantSource,
  toChange,
  toEndpoint,
  toHeld,
  toSource,
  toStoredEvent
} from "./OutboxRows.ts"

/** Webhooks with work that one poll returns, selected at random so that none is passed over for long. */
const endpointsMax = 100

/** Mechanisms with new events that are read in one round. */
const sourcesAtOnce = 50

/** Held lanes that are tried in one round, and notifications of each. */
const lanesAtOnce = 100
const heldAtOnce = 100

/** The same where a notification is a batch, whose body is larger. */
const batchLanesAtOnce = 10
const batchesAtOnce = 10

export class WebhookOutbox extends Context.Service<
  WebhookOutbox,
  {
    /** Returns the enabled webhooks with new events, or with a held notification that is due; with an id only that one. */
    endpoints(now: Millis, id?: string): Effect.Effect<ReadonlyArray<Endpoint>, Unavailable>
    /** Returns the journals that have events after the webhook's cursor. */
    sources(endpoint: Endpoint): Effect.Effect<ReadonlyArray<Source>, Unavailable>
    /** Returns the events of a mechanism that the webhook subscribes to, after the cursor and up to `upTo`. */
    events(
      endpoint: Endpoint,
      source: MechanismSource,
      upTo: number
    ): Effect.Effect<ReadonlyArray<StoredEvent>, Unavailable>
    /** Returns the events of records that the webhook subscribes to, after the cursor and up to `upTo`. */
    changes(
      endpoint: Endpoint,
      source: TenantSource,
      upTo: number
    ): Effect.Effect<ReadonlyArray<RecordedChange>, Unavailable>
    /** Returns those of the lanes that hold notifications. */
    heldLanes(endpoint: Endpoint, lanes: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>, Unavailable>
    /** Returns the beginnings of the lanes that are due, each in order. */
    due(endpoint: Endpoint, now: Millis): Effect.Effect<ReadonlyArray<ReadonlyArray<Held>>, Unavailable>
    /** Returns the number of held notifications, at most `max`. */
    heldCount(endpoint: Endpoint, max: number): Effect.Effect<number, Unavailable>
  }
>()("usher/store/webhook/WebhookOutbox") {
  static readonly layer = Layer.effect(WebhookOutbox)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const unread = unreadJournals(sql)
      return { ...(yield* makeEndpoints(sql, unread)), ...makeJournals(sql, unread), ...makeHeld(sql) }
    })
  )
}

/** The journals with events after the cursor of a webhook `w`, as SQL. */
const unreadJournals = (sql: PgClient.PgClient) => {
  /** True for mechanisms that have events after the cursor. The tables are `m`, `h`, `c` and the webhook `w`. */
  const ofMechanisms = sql`
    mechanisms m join mechanism_heads h on h.mechanism_id = m.id
    left join webhook_cursors c on c.webhook_id = w.id and c.subject_id = m.id
    where ${ofSameTenant(sql, "m", "w")} and h.sequence > coalesce(c.sequence, 0)`

  /** The tenant's journal, if it has events after the cursor. The tables are `t`, `c` and the webhook `w`. */
  const ofRecords = sql`
    tenant_heads t left join webhook_cursors c on c.webhook_id = w.id and c.subject_id = t.organization_id
    where ${ofSameTenant(sql, "t", "w")} and t.sequence > coalesce(c.sequence, 0)`

  return { ofMechanisms, ofRecords }
}
type Unread = ReturnType<typeof unreadJournals>

/** Creates the function that finds the webhooks with work. */
const makeEndpoints = Effect.fnUntraced(function* (sql: PgClient.PgClient, unread: Unread) {
  const keyring = yield* CurrentKeyring
  let unreadable = 0

  /** Leaves out the webhooks whose secrets this process cannot open, and logs when their number changes. */
  const readable = Effect.fnUntraced(function* (rows: ReadonlyArray<EndpointRow>) {
    const found = rows.flatMap((row) => toEndpoint(keyring, row) ?? [])
    const count = rows.length - found.length
    if (count > unreadable) yield* Effect.logError(`SECRETS_KEY does not open the secrets of ${count} webhooks`)
    unreadable = count
    return found
  })

  const endpoints = Effect.fnUntraced(function* (now: Millis, id?: string) {
    const isNamed = id === undefined ? sql`true` : sql`w.id = ${id}`
    const rows = yield* sql<EndpointRow>`
      select w.*, w.former_secret_until > ${new Date(now)} as overlaps from webhooks w
      where ${isNamed} and not w.archived and w.disabled_reason is null and (
        exists (select from webhook_held where webhook_id = w.id and retry_at <= ${new Date(now)})
        or exists (select from ${unread.ofRecords}) or exists (select from ${unread.ofMechanisms})
      )
      order by random() limit ${endpointsMax}`
    return yield* readable(rows)
  }, orUnavailable)

  return { endpoints }
})

/** Creates the functions that read what is new in the journals. */
const makeJournals = (sql: PgClient.PgClient, unread: Unread) => {
  const sources = Effect.fnUntraced(function* ({ id }: Endpoint) {
    const tenants = yield* sql<TenantSource>`
      select found.* from webhooks w cross join lateral (
        select t.organization_id as "subjectId", coalesce(c.sequence, 0)::float8 as "readUpTo",
          t.sequence::float8 as "lastSequence"
        from ${unread.ofRecords}
      ) found
      where w.id = ${id}`
    const rows = yield* sql<SourceRow>`
      select found.* from webhooks w cross join lateral (
        select m.id, m.kind, m.organization_id, m.mode, m.experience_id, m.sequence_id, coalesce((
            select s.record ->> 'productSelectionMode' = 'SYSTEM_ASSIGNED' from sequences s where s.id = m.sequence_id
          ), false) as assigns_products, ${onlyProduct(sql)} as product_id,
          coalesce(c.sequence, 0)::float8 as read_up_to, h.sequence::float8 as last_sequence
        from ${unread.ofMechanisms} limit ${sourcesAtOnce}
      ) found
      where w.id = ${id}`
    return [...tenants, ...rows.map(toSource)]
  }, orUnavailable)

  const events = Effect.fnUntraced(function* (endpoint: Endpoint, source: MechanismSource, upTo: number) {
    const types = eventsFor(source.identity.kind, endpoint.events)
    if (types.length === 0) return []
    const rows = yield* sql<EventRow>`
      select j.sequence::float8 as sequence, j.at, j.type, j.consumer_id, j.data,
        ${selectedProduct(sql, source.identity.kind)} as product_id
      from journal j
      where j.mechanism_id = ${source.identity.id} and j.sequence > ${source.readUpTo} and j.sequence <= ${upTo}
        and j.type = any(${types}::text[])
      order by j.sequence`
    return rows.map(toStoredEvent)
  }, orUnavailable)

  const changes = Effect.fnUntraced(function* (endpoint: Endpoint, { readUpTo }: TenantSource, upTo: number) {
    const types = changesFor(endpoint.events)
    if (types.length === 0) return []
    const rows = yield* sql<ChangeRow>`
      select t.sequence::float8 as sequence, t.at, t.type, t.subject_id, t.data from tenant_events t
      where ${ofTenant(sql, endpoint.tenant, "t")} and t.sequence > ${readUpTo} and t.sequence <= ${upTo}
        and t.type = any(${types}::text[])
      order by t.sequence`
    return rows.map(toChange)
  }, orUnavailable)

  return { sources, events, changes }
}

/** Creates the functions that read held notifications. */
const makeHeld = (sql: PgClient.PgClient) => {
  const heldLanes = Effect.fnUntraced(function* ({ id }: Endpoint, lanes: ReadonlyArray<string>) {
    const rows = yield* sql<{ readonly lane: string }>`
      select distinct lane from webhook_held where webhook_id = ${id} and lane = any(${lanes}::text[])`
    return new Set(rows.map(({ lane }) => lane))
  }, orUnavailable)

  const due = Effect.fnUntraced(function* ({ id, delivery }: Endpoint, now: Millis) {
    const [lanesMax, heldMax] = delivery === "batches" ? [batchLanesAtOnce, batchesAtOnce] : [lanesAtOnce, heldAtOnce]
    const rows = yield* sql<HeldRow>`
      select held.* from (
        select lane from webhook_held where webhook_id = ${id} and retry_at <= ${new Date(now)}
        order by retry_at limit ${lanesMax}
      ) ready cross join lateral (
        select subject_id, sequence::float8 as sequence, part, event_id, type, lane, body, attempts
        from webhook_held where webhook_id = ${id} and lane = ready.lane
        order by sequence, part limit ${heldMax}
      ) held
      order by held.lane, held.sequence, held.part`
    return [...Map.groupBy(rows.map(toHeld), ({ lane }) => lane).values()]
  }, orUnavailable)

  const heldCount = Effect.fnUntraced(function* ({ id }: Endpoint, max: number) {
    const rows = yield* sql<{ readonly count: number }>`
      select count(*)::int4 as count from (select from webhook_held where webhook_id = ${id} limit ${max}) held`
    return rows[0]!.count
  }, orUnavailable)

  return { heldLanes, due, heldCount }
}
