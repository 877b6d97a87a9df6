/**
 * The consumers of a mechanism, from the `places` projection, for lists and search. A consumer's own place comes from
 * the actor.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { slotStart } from "../../domain/appointment/Appointment.ts"
import { type OwnFields, type PlaceStatus, placeSorts, endStatuses } from "../../domain/mechanism/PlaceFields.ts"
import { noRisk, type Risk } from "../../domain/risk/Risk.ts"
import { withUnicodeLabels } from "../../domain/values/HostName.ts"
import { isUuid, type Tenant } from "../../domain/values/Ids.ts"
import { latest, type Millis, toText } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { MechanismName } from "./Mechanisms.ts"
import { makeReadPage } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { currentPlaces, ofMechanism, ofMechanisms } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as ConsumerList from "../consumer/ConsumerList.ts"
import * as Search from "../records/Search.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** What is recorded of a place, whichever list shows it. */
export interface RecordedPlace {
  readonly status: PlaceStatus
  readonly enteredAt: Millis
  readonly updatedAt: Millis
  /** The risk of its entry. */
  readonly risk: Risk
  /** The fields of the status, as the API shows them. */
  readonly fields: OwnFields
}

/** The place of a consumer in one mechanism, with the consumer's addresses and name. */
export interface ConsumerPlace extends RecordedPlace {
  readonly consumerId: string
  readonly email: string | null
  readonly phone: string | null
  readonly fullName: string | null
}

/** The maximum of mechanisms with a place of one consumer that one statement returns. */
const unfinishedMax = 500

/** A span of time, without its end. */
export interface Span {
  readonly from: Millis
  readonly to: Millis
}

/** The filters of a list of consumers. */
export interface PlaceFilter {
  readonly status?: string | undefined
  /** Bookings of this slot of the appointment, in every status. */
  readonly slotId?: string | undefined
  readonly confirmationCode?: string | undefined
  /** Only places whose risk has at least this score. */
  readonly minRiskScore?: number | undefined
  /** Only bookings whose slot begins then. */
  readonly begins?: Span | undefined
  /** Only places of consumers with or without an address, or a proved one. */
  readonly contact?: keyof ReturnType<typeof contactConditions> | undefined
}

/** The list of a mechanism's consumers, sorted by entry. */
export const shape = listShape(
  "distribution consumers",
  "p",
  placeSorts,
  { enteredAt: "timestamptz", consumerId: "uuid" },
  { id: "p.consumer_id" }
)

export class Places extends Context.Service<
  Places,
  {
    /** Returns the consumers of a mechanism. None if the mechanism is not the tenant's. */
    list(
      tenant: Tenant,
      mechanismId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: PlaceFilter
    ): Effect.Effect<Page<ConsumerPlace>, PageRefused | Unavailable>
    /** Returns the consumers whose places have not ended and have at least this risk, in the order of entry. */
    atRisk(
      tenant: Tenant,
      mechanismId: string,
      minRiskScore: number,
      max: number
    ): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /**
     * Returns the mechanisms in which the consumer waits, takes part or holds something, as last recorded, with
     * archived ones and without those in `without`. Returns at most `unfinishedMax`: a call without these finds the
     * others.
     */
    unfinished(
      tenant: Tenant,
      consumerId: string,
      without: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<MechanismName>, Unavailable>
  }
>()("usher/store/mechanism/Places") {
  static readonly layer = Layer.effect(Places)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const readPage = yield* makeReadPage(shape, toConsumerPlace)

      /** Searches consumers by a part of an address, or by the beginning of an id. */
      const sought = (tenant: Tenant, search: string): Search.Sought => {
        const isAddress = sql`(${Search.contains(sql, "fold_case(c.email)", withUnicodeLabels(search))} or ${Search.contains(sql, "c.phone", search)})`
        const ids = idsBeginning(search.toLowerCase())
        const byAddress = ConsumerList.amongNamed(sql, tenant, search, isAddress)
        if (ids === undefined) return byAddress
        const isId = sql`p.consumer_id between ${ids.least}::uuid and ${ids.greatest}::uuid`
        return {
          fits: sql`(${isAddress} or ${isId})`,
          ways: [...byAddress.ways, sql`${isId} and ${isAddress} is not true`]
        }
      }

      /** True for the bookings among these. They are looked up first: a plan in the order of entry may read all others. */
      const booked = (mechanismId: string, condition: Fragment): Fragment =>
        sql`p.consumer_id = any(array(select consumer_id from places p where mechanism_id = ${mechanismId} and ${condition}))`

      /** True for the bookings of the slot. */
      const inSlot = (mechanismId: string, id: string): Fragment => {
        const startTime = slotStart(mechanismId, id)
        return startTime === undefined ? sql`false` : booked(mechanismId, sql`p.start_time = ${toText(startTime)}`)
      }

      /** True for the booking with the code, unless its consumer has made another one since. */
      const withCode = (mechanismId: string, code: string): Fragment => sql`
        p.consumer_id = any(array(
          select consumer_id from journal
          where mechanism_id = ${mechanismId} and type = 'Booked' and data ->> 'confirmationCode' = ${code}
        )) and p.fields ->> 'confirmationCode' = ${code}`

      const list = Effect.fn("Places.list")(function* (
        tenant: Tenant,
        mechanismId: string,
        query: PageQuery<keyof typeof shape.sorts>,
        { status, slotId, confirmationCode, minRiskScore, begins, contact }: PlaceFilter
      ) {
        yield* currentPlaces(sql, ofMechanism(sql, mechanismId))
        const filter = {
          mechanismId,
          status,
          slotId,
          confirmationCode,
          minRiskScore: minRiskScore?.toString(),
          from: begins?.from.toString(),
          to: begins?.to.toString(),
          contact
        }
        const conditions = belonging(sql, tenant, mechanismId)
        if (minRiskScore !== undefined) conditions.push(hasRisk(sql, minRiskScore))
        if (status !== undefined) conditions.push(sql`p.status = ${status}`)
        if (slotId !== undefined) conditions.push(inSlot(mechanismId, slotId))
        if (confirmationCode !== undefined) conditions.push(withCode(mechanismId, confirmationCode))
        if (begins !== undefined) conditions.push(booked(mechanismId, beginsIn(sql, begins)))
        if (contact !== undefined) conditions.push(contactConditions(sql)[contact])
        const search = query.search ?? ""
        if (isUuid(search)) conditions.push(sql`p.consumer_id = ${search}::uuid`)
        const joined = sql`places p left join consumers c on c.id = p.consumer_id and ${ofTenant(sql, tenant, "c")}`
        return yield* readPage(tenant, query, {
          filter,
          ...withConsumers(sql, tenant),
          where: sql.and(conditions),
          sought: search === "" || isUuid(search) ? undefined : { ...sought(tenant, search), from: joined }
        })
      }, orUnavailable)

      // Places are looked up by key in each unfinished mechanism. An index by consumer would slow down every entry.
      const unfinished = Effect.fn("Places.unfinished")(function* (
        tenant: Tenant,
        consumerId: string,
        without: ReadonlyArray<string>
      ) {
        yield* currentPlaces(sql, ofMechanisms(sql, tenant))
        return yield* sql<MechanismName>`
          select m.id, m.kind from mechanisms m join places p on p.mechanism_id = m.id and p.consumer_id = ${consumerId}
          where ${ofTenant(sql, tenant, "m")}
            and m.teardown_status is distinct from 'completed' and p.status <> all(${endStatuses}::text[])
            and m.id <> all(${without}::uuid[])
          limit ${unfinishedMax}`
      }, orUnavailable)

      return { list, atRisk: makeAtRisk(sql), unfinished }
    })
  )
}

/** Makes the query of the consumers whose places have not ended and have at least a risk. */
const makeAtRisk = (sql: PgClient.PgClient) =>
  Effect.fn("Places.atRisk")(function* (tenant: Tenant, mechanismId: string, minRiskScore: number, max: number) {
    yield* currentPlaces(sql, ofMechanism(sql, mechanismId))
    const rows = yield* sql<Pick<Row, "consumer_id">>`
      select p.consumer_id from places p
      where ${sql.and(belonging(sql, tenant, mechanismId))} and ${hasRisk(sql, minRiskScore)}
        and p.status <> all(${endStatuses}::text[])
      order by p.entered_at, p.consumer_id limit ${max}`
    return rows.map((row) => row.consumer_id)
  }, orUnavailable)

/** True for a joined consumer `c` that has an address, and for one that has proved an address of its own. */
export const isReachable = (sql: PgClient.PgClient): Fragment => sql`(c.email is not null or c.phone is not null)`
export const isProved = (sql: PgClient.PgClient): Fragment =>
  sql`(coalesce(c.email = c.proved_email, false) or coalesce(c.phone = c.proved_phone, false))`

/** The conditions of the filter by addresses. A place without a consumer has none. */
const contactConditions = (sql: PgClient.PgClient) => ({
  reachable: isReachable(sql),
  unreachable: sql`not ${isReachable(sql)}`,
  proved: isProved(sql),
  unproved: sql`not ${isProved(sql)}`
})

/** The columns of a place with its consumer, and the tables that have them. */
export const withConsumers = (sql: PgClient.PgClient, tenant: Tenant) => ({
  fields: sql`p.*, c.email, c.phone, c.full_name`,
  // Looked up one by one, for the page alone. A join in id order would start at the lowest id.
  from: sql`
    places p left join lateral (
      select * from consumers where id = p.consumer_id and ${ofTenant(sql, tenant)} offset 0
    ) c on true`
})

/** True for the places of a mechanism, if it is the tenant's. */
export const belonging = (sql: PgClient.PgClient, tenant: Tenant, mechanismId: string): Array<Fragment> => [
  sql`p.mechanism_id = ${mechanismId}`,
  sql`exists (select 1 from mechanisms where id = ${mechanismId} and ${ofTenant(sql, tenant)})`
]

/** True for bookings whose slot begins in the span. All instants have one length, so their text sorts as they do. */
export const beginsIn = (sql: PgClient.PgClient, { from, to }: Span): Fragment =>
  sql`p.start_time >= ${toText(from)} and p.start_time < ${toText(Math.min(to, latest))}`

/** True for places whose entry has at least this risk. Most entries have none, and nothing is stored of them. */
const hasRisk = (sql: PgClient.PgClient, minRiskScore: number): Fragment =>
  sql`coalesce((p.fields -> 'risk' ->> 'score')::float8, 0) >= ${minRiskScore}`

/** Returns the lowest and the highest id that begin with the text. Undefined if none does. */
const idsBeginning = (text: string): { readonly least: string; readonly greatest: string } | undefined => {
  const filled = (digit: string) =>
    text + "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".slice(text.length).replaceAll("x", digit)
  return isUuid(filled("0")) ? { least: filled("0"), greatest: filled("f") } : undefined
}

/** The columns of `places` that a list shows. */
export interface PlaceColumns {
  readonly status: PlaceStatus
  readonly entered_at: Date
  readonly updated_at: Date
  readonly fields: (OwnFields & { readonly risk?: Risk; readonly bidOrder?: string }) | null
}

/** Returns what these columns record. The risk is stored among the fields, and so is the order of a bid. */
export const toRecordedPlace = (row: PlaceColumns): RecordedPlace => {
  const { risk = noRisk, bidOrder: _, ...fields } = row.fields ?? {}
  return {
    status: row.status,
    enteredAt: row.entered_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    risk,
    fields
  }
}

interface Row extends PlaceColumns {
  readonly consumer_id: string
  readonly email: string | null
  readonly phone: string | null
  readonly full_name: string | null
}

export const toConsumerPlace = (row: Row): ConsumerPlace => ({
  consumerId: row.consumer_id,
  email: row.email,
  phone: row.phone,
  fullName: row.full_name,
  ...toRecordedPlace(row)
})
