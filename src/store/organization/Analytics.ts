/**
 * Counts and sums of recorded events, in buckets of time. One statement reads the journal, the orders and the visits. The
 * database aborts a long query, and only few run at the same time, so queries never take the connections that entries need.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import {
  type Interval,
  intervalMillis,
  isMoney,
  type Range,
  type Source,
  type Where
} from "../../domain/organization/Analytics.ts"
import { endStatuses } from "../../domain/mechanism/PlaceFields.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { currentPlaces, ofMechanism } from "../journal/CurrentPlaces.ts"
import { belonging, isProved, isReachable } from "../mechanism/Places.ts"
import * as ConcurrencyLimit from "../postgres/ConcurrencyLimit.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** The time limit of a query. */
const queryMillisMax = 10_000

/** The maximum of concurrent queries. */
const queriesAtOnce = 2

/** The maximum of waiting and running queries: all that ten organizations may make in a minute. */
const queriesMax = 1_000

/** Seconds that a query waits for its turn. Within them an organization may make all its queries at once. */
const waitingSecondsMax = 30

const turns = { most: queriesAtOnce, waitingMax: queriesMax, waitingSecondsMax }

/** The query took too long and was aborted. */
export class QueryTooLong extends Schema.TaggedError<QueryTooLong>()("QueryTooLong", { seconds: Schema.Finite }) {}

/** Requested events, and the field to add up, if any. */
export interface AnalyticsRequest {
  readonly kind: Source["kind"]
  readonly type: string
  readonly field: string | null
}

/**
 * The events of one kind in one bucket, and in one currency if they are money. Sums are computed as exact decimals and
 * returned as the nearest number.
 */
export interface Tally extends AnalyticsRequest {
  /** Null unless the sum is money. */
  readonly currencyCode: string | null
  /** The start of the bucket. */
  readonly bucket: Millis
  readonly count: number
  readonly sum: number
  readonly average: number
}

/** How long consumers waited, from the first entry to the first grant, or until they left before one. In seconds. */
export interface Waits {
  readonly granted: number
  readonly medianSeconds: number | null
  readonly p95Seconds: number | null
  readonly left: number
  readonly leftMedianSeconds: number | null
}

/** The consumers of a mechanism whose places have not ended, and how many of them have an address, or a proved one. */
export interface Contacts {
  readonly consumers: number
  readonly reachable: number
  readonly proved: number
}

/** A query about a tenant. */
export interface Question {
  readonly wanted: ReadonlyArray<AnalyticsRequest>
  readonly range: Range
  readonly interval: Interval
  readonly where: Where
}

export class Analytics extends Context.Service<
  Analytics,
  {
    /** Returns the requested events, by bucket. Buckets without events are omitted. */
    tallies(tenant: Tenant, question: Question): Effect.Effect<ReadonlyArray<Tally>, QueryTooLong | Unavailable>
    /** Returns how long consumers waited in a mechanism, whose grants are events of this type. */
    waits(tenant: Tenant, mechanismId: string, grant: string): Effect.Effect<Waits, QueryTooLong | Unavailable>
    /** Counts the consumers of a mechanism by their addresses, as last recorded. */
    contacts(tenant: Tenant, mechanismId: string): Effect.Effect<Contacts, QueryTooLong | Unavailable>
  }
>()("usher/store/organization/Analytics") {
  /** Runs the same query with another time limit. */
  static readonly layerWith = ({ queryMillisMax }: { readonly queryMillisMax: number }) =>
    Layer.effect(Analytics, make(queryMillisMax))

  static readonly layer = Analytics.layerWith({ queryMillisMax })
}

/** True where the column has the value. Without a value it is not asked. */
const is = (sql: PgClient.PgClient, column: string, value: string | null | undefined): ReadonlyArray<Fragment> =>
  value === null || value === undefined ? [] : [sql`${sql(column)} = ${value}`]

/** True for the tenant's rows below what is named. `id` and `kind` are the columns of their mechanism. */
const those = (sql: PgClient.PgClient, tenant: Tenant, where: Where, row: string, id: string, kind: string) => [
  ofTenant(sql, tenant, row),
  ...is(sql, `${row}.${id}`, where.distributionId),
  ...is(sql, `${row}.experience_id`, where.experienceId),
  ...is(sql, `${row}.sequence_id`, where.sequenceId),
  ...is(sql, `${row}.${kind}`, where.distributionType)
]

function make(millisMax: number) {
  return Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const oneOfFew = yield* ConcurrencyLimit.make("analytics queries", turns)

    const inRange = (column: string, { from, to }: Range) =>
      sql`${sql(column)} >= ${new Date(from)}::timestamptz and ${sql(column)} < ${new Date(to)}::timestamptz`

    /** Returns the events in the journals of the tenant's mechanisms, including archived ones. */
    const journaled = (tenant: Tenant, { wanted, range, where }: Question): ReadonlyArray<Fragment> => {
      const events = wanted.filter(({ kind }) => kind !== "order" && kind !== "room")
      if (events.length === 0) return []
      const mechanisms = sql.and([
        ...those(sql, tenant, where, "m", "id", "kind"),
        ...(where.currencyCode ? [sql`m.configuration ->> 'currencyCode' = ${where.currencyCode}`] : [])
      ])
      return [
        sql`
        select w.kind, w.type, w.field, case when w.is_money then m.configuration ->> 'currencyCode' end, j.at,
          case when w.field is not null then coalesce((j.data ->> w.field)::numeric, 0) end as value, 1 as number
        from unnest(
          ${events.map(({ kind }) => kind)}::text[],
          ${events.map(({ type }) => type)}::text[],
          ${events.map(({ field }) => field ?? "")}::text[],
          ${events.map(({ field }) => isMoney(field))}::boolean[]
        ) as given (kind, type, name, is_money)
        cross join lateral (
          select given.kind, given.type, nullif(given.name, '') as field, given.is_money
        ) w
        join mechanisms m on m.kind = w.kind and ${mechanisms}
        join journal j on j.mechanism_id = m.id and j.type = w.type and ${inRange("j.at", range)}`
      ]
    }

    /** Returns the events of orders. Each kind is read by the index on its time. */
    const ordered = (tenant: Tenant, { wanted, range, where }: Question): ReadonlyArray<Fragment> => {
      const orders = sql.and([
        ...those(sql, tenant, where, "o", "distribution_id", "distribution_type"),
        ...is(sql, "o.currency_code", where.currencyCode)
      ])
      return wanted
        .filter(({ kind }) => kind === "order")
        .map(
          ({ type, field }) => sql`
          select 'order', ${type}::text, ${field}::text, ${isMoney(field) ? sql`o.currency_code` : sql`null`},
            ${sql(`o.${type}_at`)}, o.total, 1
          from orders o where ${orders} and ${inRange(`o.${type}_at`, range)}`
        )
    }

    /** Returns the visits of rooms, which have no mechanism and no currency. A row counts those of a minute. */
    const visited = (tenant: Tenant, { wanted, range, where }: Question): ReadonlyArray<Fragment> => {
      const { experienceId, ...others } = where
      if (!wanted.some(({ kind }) => kind === "room") || Object.values(others).some((value) => value)) return []
      const rooms = sql.and([ofTenant(sql, tenant, "v"), ...is(sql, "v.experience_id", experienceId)])
      return [
        sql`
        select 'room', 'visited', null::text, null::text, v.at, null::numeric, v.visits
        from room_visits v where ${rooms} and ${inRange("v.at", range)}`
      ]
    }

    /** Runs a query in a transaction that the database aborts when it takes too long. */
    const bounded = <A>(query: Effect.Effect<A, SqlError>): Effect.Effect<A, QueryTooLong | Unavailable> =>
      // There are few buckets and many events. Grouping by hash avoids a sort, which would spill to disk.
      sql`select set_config('statement_timeout', ${`${millisMax}`}, true), set_config('enable_sort', 'off', true)`.pipe(
        Effect.andThen(query),
        sql.withTransaction,
        Effect.catchTag("SqlError", (error): Effect.Effect<never, QueryTooLong | SqlError> =>
          error.reason._tag === "StatementTimeoutError"
            ? Effect.fail(new QueryTooLong({ seconds: millisMax / 1000 }))
            : Effect.fail(error)
        ),
        oneOfFew,
        orUnavailable
      )

    const waits = Effect.fn("Analytics.waits")(function* (tenant: Tenant, mechanismId: string, grant: string) {
      const [row] = yield* bounded(sql<WaitsRow>`
        with first as (
          select consumer_id, min(at) filter (where type = 'Entered') as entered,
            min(at) filter (where type = ${grant}) as granted, min(at) filter (where type = 'Left') as gone
          from journal
          where mechanism_id = ${mechanismId} and type in ('Entered', ${grant}, 'Left') and exists (
            select 1 from mechanisms where id = ${mechanismId} and ${ofTenant(sql, tenant)}
          )
          group by consumer_id
        ), waited as (
          select extract(epoch from granted - entered)::float8 as granted,
            case when granted is null then extract(epoch from gone - entered)::float8 end as gone
          from first where entered is not null
        )
        select count(granted) as granted, count(gone) as left,
          percentile_cont(0.5) within group (order by granted) as "medianSeconds",
          percentile_cont(0.95) within group (order by granted) as "p95Seconds",
          percentile_cont(0.5) within group (order by gone) as "leftMedianSeconds"
        from waited`)
      return { ...row!, granted: Number(row!.granted), left: Number(row!.left) }
    })

    const contacts = Effect.fn("Analytics.contacts")(function* (tenant: Tenant, mechanismId: string) {
      yield* orUnavailable(currentPlaces(sql, ofMechanism(sql, mechanismId)))
      const [row] = yield* bounded(sql<{ readonly [N in keyof Contacts]: bigint }>`
        select count(*) as consumers, count(*) filter (where ${isReachable(sql)}) as reachable,
          count(*) filter (where ${isProved(sql)}) as proved
        from places p left join consumers c on c.id = p.consumer_id and ${ofTenant(sql, tenant, "c")}
        where ${sql.and(belonging(sql, tenant, mechanismId))} and p.status <> all(${endStatuses}::text[])`)
      const { consumers, reachable, proved } = row!
      return { consumers: Number(consumers), reachable: Number(reachable), proved: Number(proved) }
    })

    const tallies = Effect.fn("Analytics.tallies")(function* (tenant: Tenant, question: Question) {
      const happened = [...journaled(tenant, question), ...ordered(tenant, question), ...visited(tenant, question)]
      if (happened.length === 0) return []
      const length = intervalMillis[question.interval]
      const rows = yield* bounded(sql<Row>`
        select date_bin(${length} * interval '1 millisecond', at, timestamptz 'epoch') as bucket, kind, type, field,
          currency_code as "currencyCode", sum(number)::bigint as count, coalesce(sum(value), 0)::float8 as sum, coalesce(avg(value), 0)::float8 as average
        from (${sql.join(" union all ", false)(happened)}) as happened (kind, type, field, currency_code, at, value, number)
        group by 1, 2, 3, 4, 5`)
      return rows.map(toTally)
    })

    return { tallies, waits, contacts }
  })
}

interface Row extends AnalyticsRequest {
  readonly bucket: Date
  readonly currencyCode: string | null
  readonly count: bigint
  readonly sum: number
  readonly average: number
}

type WaitsRow = Omit<Waits, "granted" | "left"> & { readonly granted: bigint; readonly left: bigint }

const toTally = ({ bucket, count, ...row }: Row): Tally => ({
  ...row,
  bucket: bucket.getTime(),
  count: Number(count)
})
