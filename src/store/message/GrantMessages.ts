/**
 * Data for messages about grants: the mechanisms that have work, the grants with their consumers' addresses, the pages
 * that messages are rendered from, and the outcome of each message.
 *
 * The source is the journal. Each mechanism has a cursor: all its events up to the cursor are done, except messages
 * that wait for a retry. Each attempted message has a row, and a grant whose message has a row is not read again. The row
 * holds no text, unlike a waiting delivery of a webhook: the grant and the address are looked up for each attempt.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import {
  type EmailDocument,
  type SmsDocument,
  messageDocumentBytesMax
} from "../../domain/experience/creative/Document.ts"
import type { Theme } from "../../domain/experience/Experience.ts"
import { declarations, type LateGrantKind, lateGrantKinds } from "../../domain/mechanism/Mechanism.ts"
import { standingOf, statusesOf } from "../../domain/mechanism/PlaceFields.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { themeOf } from "../../domain/organization/Organization.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { currentPlaces, ofMechanism } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofOrganization, timeOfTenant, unarchivedOf } from "../records/Tenancy.ts"

/** Grants of one mechanism that are looked up at once. */
const grantsAtOnce = 20

/** Events of one mechanism that are read at once. */
const eventsAtOnce = 2_000

/** The events that make the grants. */
const grantEvents = [...new Set(lateGrantKinds.flatMap((kind) => declarations[kind].grants))]

/** The statuses of places that hold one. */
const grantStatuses = [
  ...new Set(
    lateGrantKinds.flatMap((kind) => statusesOf[kind].filter((status) => standingOf(kind, status) === "admitted"))
  )
]

/** A mechanism that has work: events after its cursor, or a message to retry. */
export interface Source {
  readonly mechanismId: string
  readonly kind: LateGrantKind
  readonly tenant: Tenant
  readonly experienceId: string
  readonly sequenceId: string
  readonly organizationName: string
  readonly experienceName: string
  readonly name: string
  readonly timeZone: string
  readonly currencyCode: string | null
  readonly theme: typeof Theme.Type
  readonly channels: "email" | "sms" | "email_or_sms"
  /** All events up to this sequence are done. */
  readonly readUpTo: number
  /** The sequence of the last event. */
  readonly lastSequence: number
}

/** A grant with its consumer's addresses. */
export interface Grant {
  /** The sequence of the event that made the grant. */
  readonly sequence: number
  readonly consumerId: string
  readonly consumerName: string
  readonly grantedAt: Millis
  /** Infinity if the grant does not expire. */
  readonly expiresAt: Millis
  readonly winningBidAmount: string | null
  /** Null if the address is not known, or if the organization does not use the channel. */
  readonly email: string | null
  readonly phone: string | null
  /** False if the grant has ended, or its consumer is archived. */
  readonly isAlive: boolean
  /** The number of attempts to send its message. */
  readonly attempts: number
}

/** The outcome of an attempt: sent, permanently refused, given up, or to be retried. */
export type AttemptResult =
  | { readonly outcome: "delivered" | "undeliverable" | "abandoned" }
  | { readonly outcome: "waiting"; readonly retryAt: Millis }

/** The creative documents that the messages of an experience are rendered from. */
export interface Pages {
  readonly email?: typeof EmailDocument.Type
  readonly sms?: typeof SmsDocument.Type
}

export class GrantMessages extends Context.Service<
  GrantMessages,
  {
    /** Returns the mechanisms that have work, of all organizations that have turned messages on. */
    sources(now: Millis): Effect.Effect<ReadonlyArray<Source>, Unavailable>
    /** Returns the next grants without a message whose consumers have an address, and the cursor after them. */
    newGrants(
      source: Source,
      now: Millis
    ): Effect.Effect<{ readonly grants: ReadonlyArray<Grant>; readonly readUpTo: number }, Unavailable>
    /** Returns the grants whose messages are due for a retry. */
    dueRetries(source: Source, now: Millis): Effect.Effect<ReadonlyArray<Grant>, Unavailable>
    pages(source: Source): Effect.Effect<Pages, Unavailable>
    /** Records the outcome of an attempt. */
    record(
      source: Source,
      grant: Grant,
      channel: "email" | "phone",
      result: AttemptResult,
      now: Millis
    ): Effect.Effect<void, Unavailable>
    /** Records that a waiting message is not retried. */
    abandon(source: Source, grant: Grant, now: Millis): Effect.Effect<void, Unavailable>
    /** Moves the mechanism's cursor forward. */
    advance(source: Source, readUpTo: number): Effect.Effect<void, Unavailable>
  }
>()("usher/store/message/GrantMessages") {
  static readonly layer = onDatabase(GrantMessages, (sql) => {
    // After a mechanism's teardown, none of its grants is active. In a dutch auction a bid wins at once, by
    // the consumer's own request.
    const sources = Effect.fnUntraced(function* (now: Millis) {
      const rows = yield* sql<SourceRow>`
        with due as (
          select m.id
          from organizations o
          join mechanisms m on o.id = m.organization_id
          join mechanism_heads h on h.mechanism_id = m.id
          left join grant_message_cursors c on c.mechanism_id = m.id
          where o.settings ->> 'grantMessages' <> 'off' and m.kind = any(${lateGrantKinds}::text[])
            and m.configuration ->> 'auctionType' is distinct from 'dutch'
            and m.teardown_status is distinct from 'completed' and h.sequence > coalesce(c.sequence, 0)
          union
          select g.mechanism_id from grant_messages g join mechanisms m on m.id = g.mechanism_id
          where g.retry_at <= ${timeOfTenant(sql, "m", now)}
        )
        select m.id, m.kind, m.organization_id, m.mode, m.experience_id, m.sequence_id, o.name as organization_name,
          e.name as experience_name, m.configuration ->> 'name' as name, m.configuration ->> 'timeZone' as time_zone,
          m.configuration ->> 'currencyCode' as currency_code, e.record -> 'theme' as theme,
          o.settings -> 'theme' as organization_theme, o.settings ->> 'grantMessages' as channels,
          coalesce(c.sequence, 0)::float8 as read_up_to, h.sequence::float8 as last_sequence
        from due
        join mechanisms m using (id)
        join mechanism_heads h on h.mechanism_id = m.id
        join organizations o on o.id = m.organization_id
        join experiences e on e.id = m.experience_id
        left join grant_message_cursors c on c.mechanism_id = m.id
        where o.settings ->> 'grantMessages' <> 'off'
        order by m.id`
      return rows.map(toSource)
    }, orUnavailable)

    /** The organization may have turned messages off since the mechanism was looked up. */
    const isOn = ({ tenant }: Source) => sql`exists (
      select from organizations where id = ${tenant.organizationId} and settings ->> 'grantMessages' <> 'off'
    )`

    /** Returns the grants that these events (sequence, at, consumer_id, attempts) made. Each is looked up by key. */
    const grantsOf = ({ mechanismId, tenant, channels }: Source, events: Fragment, now: Millis) => sql`
      select j.sequence, j.at, j.consumer_id, j.attempts, p.fields, c.full_name, c.name,
        case when ${channels !== "sms"} then c.email end as email,
        case when ${channels !== "email"} then c.phone end as phone,
        p.status is not null and c.id is not null as alive
      from (${events}) j
      left join lateral (
        select * from places
        where mechanism_id = ${mechanismId} and consumer_id = j.consumer_id and status = any(${grantStatuses}::text[])
          and updated_at = j.at and coalesce((fields ->> 'expiresAt')::timestamptz > ${new Date(now)}, true)
        offset 0
      ) p on true
      left join lateral (
        select * from consumers
        where id = j.consumer_id and ${unarchivedOf(sql, tenant)}
        offset 0
      ) c on true`

    const newGrants = Effect.fnUntraced(function* (source: Source, now: Millis) {
      const { mechanismId, readUpTo, lastSequence } = source
      const upTo = Math.min(lastSequence, readUpTo + eventsAtOnce)
      yield* currentPlaces(sql, ofMechanism(sql, mechanismId))
      const events = sql`
        select sequence, at, consumer_id, 0 as attempts from journal
        where mechanism_id = ${mechanismId} and sequence > ${readUpTo} and sequence <= ${upTo}
          and type = any(${grantEvents}::text[]) and ${isOn(source)} and not exists (
            select from grant_messages told
            where told.mechanism_id = ${mechanismId} and told.sequence = journal.sequence
          )
        order by sequence limit ${eventsAtOnce}`
      const rows = yield* sql<GrantRow>`
        select * from (${grantsOf(source, events, now)}) found
        where alive and coalesce(email, phone) is not null
        order by sequence limit ${grantsAtOnce}`
      const isFull = rows.length === grantsAtOnce
      return { grants: rows.map(toGrant), readUpTo: isFull ? Number(rows.at(-1)!.sequence) : upTo }
    }, orUnavailable)

    const dueRetries = Effect.fnUntraced(function* (source: Source, now: Millis) {
      yield* currentPlaces(sql, ofMechanism(sql, source.mechanismId))
      const events = sql`
        select sequence, at, journal.consumer_id, attempts
        from grant_messages join journal using (mechanism_id, sequence)
        where mechanism_id = ${source.mechanismId} and retry_at <= ${new Date(now)} and ${isOn(source)}
        order by retry_at limit ${grantsAtOnce}`
      return (yield* sql<GrantRow>`${grantsOf(source, events, now)}`).map(toGrant)
    }, orUnavailable)

    const pages = Effect.fnUntraced(function* ({ tenant, experienceId }: Source) {
      const rows = yield* sql<{ readonly document: typeof EmailDocument.Type | typeof SmsDocument.Type }>`
        select distinct on (creative_document ->> 'kind') creative_document as document
        from experience_pages
        where experience_id = ${experienceId} and ${unarchivedOf(sql, tenant)} and status = 'PUBLISHED' and document_bytes <= ${messageDocumentBytesMax}
          and creative_document ->> 'kind' in ('transactional-email', 'transactional-sms')
        order by creative_document ->> 'kind', last_published_at desc, id desc`
      const documents = rows.map(({ document }) => document)
      const ofEmail = documents.find((document) => document.editor === "email-components-v1")
      const ofSms = documents.find((document) => document.editor === "sms-text-v1")
      return { ...(ofEmail && { email: ofEmail }), ...(ofSms && { sms: ofSms }) }
    }, orUnavailable)

    const record: GrantMessages["Service"]["record"] = Effect.fnUntraced(function* (
      { mechanismId },
      { sequence, consumerId, attempts },
      channel,
      result,
      now
    ) {
      const { outcome } = result
      const retryAt = result.outcome === "waiting" ? new Date(result.retryAt) : null
      yield* sql`
          insert into grant_messages
            (mechanism_id, sequence, consumer_id, channel, outcome, attempts, updated_at, retry_at)
          values (
            ${mechanismId}, ${sequence}, ${consumerId}, ${channel}, ${outcome}, ${attempts + 1}, ${new Date(now)},
            ${retryAt}
          )
          on conflict (mechanism_id, sequence) do update set
            channel = excluded.channel, outcome = excluded.outcome, attempts = excluded.attempts,
            updated_at = excluded.updated_at, retry_at = excluded.retry_at`
    }, orUnavailable)

    const abandon = ({ mechanismId }: Source, { sequence }: Grant, now: Millis) =>
      sql`
        update grant_messages set outcome = 'abandoned', retry_at = null, updated_at = ${new Date(now)}
        where mechanism_id = ${mechanismId} and sequence = ${sequence} and outcome = 'waiting'`.pipe(
        Effect.asVoid,
        orUnavailable
      )

    const advance = (source: Source, readUpTo: number) =>
      sql`
        insert into grant_message_cursors as c (mechanism_id, sequence) values (${source.mechanismId}, ${readUpTo})
        on conflict (mechanism_id) do update set sequence = greatest(c.sequence, excluded.sequence)`.pipe(
        Effect.asVoid,
        orUnavailable
      )

    return { sources, newGrants, dueRetries, pages, record, abandon, advance }
  })
}

/**
 * Moves the cursors of an organization to the present, so that messages start with the next grant, and gives up waiting
 * messages. Call it in the transaction that turns the organization's messages on or off.
 */
export const beginWithNext = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, organizationId: string) {
  yield* sql`
    insert into grant_message_cursors (mechanism_id, sequence)
    select id, sequence from mechanisms join mechanism_heads on mechanism_id = id
    where ${ofOrganization(sql, organizationId)} and kind = any(${lateGrantKinds}::text[])
      and teardown_status is distinct from 'completed'
    on conflict (mechanism_id) do update set sequence = excluded.sequence`
  yield* sql`
    update grant_messages set outcome = 'abandoned', retry_at = null
    from mechanisms
    where retry_at is not null and mechanisms.id = mechanism_id and ${ofOrganization(sql, organizationId)}`
})

interface SourceRow {
  readonly id: string
  readonly kind: Source["kind"]
  readonly organization_id: string
  readonly mode: Mode
  readonly experience_id: string
  readonly sequence_id: string
  readonly organization_name: string
  readonly experience_name: string
  readonly name: string
  readonly time_zone: string
  readonly currency_code: string | null
  readonly theme: typeof Theme.Type | null
  readonly organization_theme: typeof Theme.Type | null
  readonly channels: Source["channels"]
  readonly read_up_to: number
  readonly last_sequence: number
}

const toSource = (row: SourceRow): Source => ({
  mechanismId: row.id,
  kind: row.kind,
  tenant: { organizationId: row.organization_id, mode: row.mode },
  experienceId: row.experience_id,
  sequenceId: row.sequence_id,
  organizationName: row.organization_name,
  experienceName: row.experience_name,
  name: row.name,
  timeZone: row.time_zone,
  currencyCode: row.currency_code,
  theme: themeOf(row.theme, row.organization_theme) ?? {},
  channels: row.channels,
  readUpTo: row.read_up_to,
  lastSequence: row.last_sequence
})

interface GrantRow {
  readonly sequence: bigint
  readonly at: Date
  readonly consumer_id: string
  readonly attempts: number
  /** Null where the grant has ended. */
  readonly fields: { readonly expiresAt?: string; readonly winningBidAmount?: string } | null
  readonly full_name: string | null
  readonly name: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly alive: boolean
}

const toGrant = ({ fields, ...row }: GrantRow): Grant => ({
  sequence: Number(row.sequence),
  consumerId: row.consumer_id,
  consumerName: row.full_name ?? row.name ?? "",
  grantedAt: row.at.getTime(),
  expiresAt: fields?.expiresAt === undefined ? Infinity : Date.parse(fields.expiresAt),
  winningBidAmount: fields?.winningBidAmount ?? null,
  email: row.email,
  phone: row.phone,
  isAlive: row.alive,
  attempts: row.attempts
})
