/**
 * What webhooks still have to deliver. The sources are the journals of mechanisms and of tenants: an append writes
 * nothing more for them. Each webhook has a cursor into each journal, up to which its events are delivered, have failed,
 * or wait in a lane (`PendingDeliveries.ts`), where a failing one does not delay others.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Event } from "../../domain/mechanism/Decider.ts"
import { type Kind, type MechanismIdentity, selectingKinds } from "../../domain/mechanism/Mechanism.ts"
import type { Change, RecordedChange, TenantEventType } from "../../domain/organization/TenantEvent.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { eventsFor } from "../../domain/webhook/Catalogue.ts"
import { changesFor } from "../../domain/webhook/RecordCatalogue.ts"
import {
  type DeliveryForm,
  type Ordering,
  requestsAtOnceDefault,
  type RetrySchedule
} from "../../domain/webhook/Webhook.ts"
import { toIdentity } from "../mechanism/Mechanisms.ts"
import { currentPlaces, ofMechanism } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import type { FormerSecretColumns, SecretColumns } from "../secrets/RecordSecrets.ts"
import type { Keyring } from "../secrets/Sealing.ts"
import { makeReadPending, type PendingDelivery } from "./PendingDeliveries.ts"
import { secrets } from "./Webhooks.ts"

/** Webhooks with work that one poll returns, selected at random so that none is passed over for long. */
const endpointsMax = 100

/** Mechanisms with new events that are read in one round. */
const sourcesAtOnce = 50

/** A webhook that has work. */
export interface Endpoint {
  readonly id: string
  readonly tenant: Tenant
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly ordering: Ordering
  readonly schedule: RetrySchedule
  readonly delivery: DeliveryForm
  readonly requestsAtOnce: number
  /** Undefined: as fast as the endpoint answers. */
  readonly requestsPerSecond: number | undefined
  /** The present secret, and after it the former one while both are valid. */
  readonly secrets: readonly [string, ...ReadonlyArray<string>]
  readonly failingSince: Millis | undefined
}

/** A journal with events after the webhook's cursor: of a mechanism, or of the tenant. */
export type Source = MechanismSource | TenantSource

/** The events after a cursor. `subjectId` names the journal: the mechanism, or the organization. */
interface JournalPart {
  readonly subjectId: string
  readonly readUpTo: number
  readonly lastSequence: number
}

/** A mechanism with events after the webhook's cursor. */
export interface MechanismSource extends JournalPart {
  readonly identity: MechanismIdentity
  /** True if the system assigns the products of the mechanism's sequence. */
  readonly assignsProducts: boolean
  /** The product of every event, if the sequence or the experience has only one. */
  readonly productId: string | undefined
}

/** The journal of the webhook's tenant, with events after the cursor. */
export interface TenantSource extends JournalPart {
  readonly identity?: never
}

/** An event of the journal, as stored. */
export interface StoredEvent {
  readonly sequence: number
  readonly event: Event
  /** The product of the variant that the consumer has selected. */
  readonly productId?: string
}

export class WebhookOutbox extends Context.Service<
  WebhookOutbox,
  {
    /** Returns the enabled webhooks with new events, or with a waiting delivery that is due; with an id only that one. */
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
    /** Returns those of the lanes in which deliveries wait. */
    waitingLanes(endpoint: Endpoint, lanes: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>, Unavailable>
    /** Returns the beginnings of the lanes that are due, each in order. */
    due(endpoint: Endpoint, now: Millis): Effect.Effect<ReadonlyArray<ReadonlyArray<PendingDelivery>>, Unavailable>
    /** Returns the number of waiting deliveries, at most `max`. */
    waitingCount(endpoint: Endpoint, max: number): Effect.Effect<number, Unavailable>
  }
>()("usher/store/webhook/WebhookOutbox") {
  static readonly layer = Layer.effect(WebhookOutbox)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const unread = unreadJournals(sql)
      return { ...(yield* makeEndpoints(sql, unread)), ...makeJournals(sql, unread), ...makeReadPending(sql) }
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
    const { id, kind } = source.identity
    if (selectingKinds.includes(kind)) yield* currentPlaces(sql, ofMechanism(sql, id))
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

/** Returns the journals with their last events. Costs a row for each mechanism: for a developer's own tools. */
export const journalsOf = Effect.fnUntraced(function* (tenant: Tenant) {
  const sql = yield* PgClient.PgClient
  const own = yield* sql<TenantSource>`
    select t.organization_id as "subjectId", 0 as "readUpTo", t.sequence::float8 as "lastSequence"
    from tenant_heads t where ${ofTenant(sql, tenant, "t")}`
  const mechanisms = yield* sql<SourceRow>`
    select m.id, m.kind, m.organization_id, m.mode, m.experience_id, m.sequence_id,
      coalesce(s.record ->> 'productSelectionMode' = 'SYSTEM_ASSIGNED', false) as assigns_products,
      ${onlyProduct(sql)} as product_id,
      0 as read_up_to, h.sequence::float8 as last_sequence
    from mechanisms m join mechanism_heads h on h.mechanism_id = m.id left join sequences s on s.id = m.sequence_id
    where ${ofTenant(sql, tenant, "m")}`
  return [...own, ...mechanisms.map(toSource)] as ReadonlyArray<Source>
}, orUnavailable)

/**
 * The product of a mechanism `m`: the only one of its sequence, or of its experience if the sequence names none. Null if
 * there are several.
 */
const onlyProduct = (sql: PgClient.PgClient): Fragment => sql`(
  select case when count(*) = 1 then min(p.id::text) end from products p
  where not p.archived and ${ofSameTenant(sql, "p", "m")} and p.id = any(coalesce(
    (select nullif(array(
      select (named #>> '{}')::uuid
      from jsonb_array_elements(jsonb_path_query_array(s.record, '$.sequenceProducts[*].productId')) as named
    ), '{}') from sequences s where s.id = m.sequence_id),
    array(select x.product_id from experience_products x where x.experience_id = m.experience_id)
  ))
)`

/**
 * The product of the variant that the consumer of an event `j` has selected. An event without a selection counts for that
 * of the place.
 */
const selectedProduct = (sql: PgClient.PgClient, kind: Kind): Fragment =>
  selectingKinds.includes(kind)
    ? sql`(
        select v.product_id from product_variants v where v.id = coalesce(
          j.data ->> 'variantId',
          (select fields ->> 'selectedVariantId' from places
            where mechanism_id = j.mechanism_id and consumer_id = j.consumer_id)
        )::uuid
      )`
    : sql`null::uuid`

interface EndpointRow extends SecretColumns, FormerSecretColumns {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly url: string
  readonly record: {
    readonly events: ReadonlyArray<string>
    readonly ordering?: Ordering
    readonly schedule?: RetrySchedule
    readonly delivery?: DeliveryForm
    readonly requestsAtOnce?: number
    readonly requestsPerSecond?: number
  }
  readonly overlaps: boolean | null
  readonly failing_since: Date | null
}

/** Returns the endpoint of a row; undefined if this process cannot open its secret. */
const toEndpoint = (keyring: Keyring, { record, ...row }: EndpointRow): Endpoint | undefined => {
  const present = secrets.presentOf(keyring, row)
  if (present === undefined) return undefined
  const former = row.overlaps === true ? secrets.formerOf(keyring, row) : undefined
  return {
    id: row.id,
    tenant: { organizationId: row.organization_id, mode: row.mode },
    url: row.url,
    events: record.events,
    ordering: record.ordering ?? "consumer",
    schedule: record.schedule ?? "standard",
    delivery: record.delivery ?? "single",
    requestsAtOnce: record.requestsAtOnce ?? requestsAtOnceDefault,
    requestsPerSecond: record.requestsPerSecond,
    secrets: former === undefined ? [present] : [present, former],
    failingSince: row.failing_since?.getTime()
  }
}

interface SourceRow {
  readonly id: string
  readonly kind: Kind
  readonly organization_id: string
  readonly mode: Mode
  readonly experience_id: string
  readonly sequence_id: string
  readonly assigns_products: boolean
  readonly product_id: string | null
  readonly read_up_to: number
  readonly last_sequence: number
}

const toSource = (row: SourceRow): MechanismSource => ({
  subjectId: row.id,
  identity: toIdentity(row),
  assignsProducts: row.assigns_products,
  productId: row.product_id ?? undefined,
  readUpTo: row.read_up_to,
  lastSequence: row.last_sequence
})

interface ChangeRow {
  readonly sequence: number
  readonly at: Date
  readonly type: TenantEventType
  readonly subject_id: string
  readonly data: Change & Pick<RecordedChange, "context">
}

const toChange = ({ sequence, at, type, subject_id, data }: ChangeRow): RecordedChange => ({
  ...data,
  sequence,
  at: at.getTime(),
  type,
  subjectId: subject_id
})

interface EventRow {
  readonly sequence: number
  readonly at: Date
  readonly type: string
  readonly consumer_id: string | null
  readonly data: object | null
  readonly product_id: string | null
}

const toStoredEvent = ({ sequence, at, type, consumer_id, data, product_id }: EventRow): StoredEvent => ({
  sequence,
  ...(product_id !== null && { productId: product_id }),
  event: { ...data, _tag: type, at: at.getTime(), ...(consumer_id !== null && { consumerId: consumer_id }) }
})
