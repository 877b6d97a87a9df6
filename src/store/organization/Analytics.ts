/**
 * Counts and sums of what was recorded, in buckets of time. One statement asks the journal and the orders at once; what can
 * be long is cut off by the database itself, and few are under way at the same time, so that queries never take the
 * connections that entries need.
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
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import * as FewAtOnce from "../postgres/FewAtOnce.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** How long a query may take until it is given up. */
const queryMillisMax = 10_000

/** Queries under way at once. */
const queriesAtOnce = 2

/** Queries that wait or are under way; beyond it they are better told. */
const queriesMax = 50

/** The query took longer than it may: it asks for too much. Nothing is known of it. */
export class QueryTooLong extends Schema.TaggedError<QueryTooLong>()("QueryTooLong", { seconds: Schema.Finite }) {}

/** Events that are asked for, with the field that is added up, if one is. */
export interface AnalyticsRequest {
  readonly kind: Source["kind"]
  readonly type: string
  readonly field: string | null
}

/**
 * What was found of one kind of events in one bucket, of money in one currency; the sum of exact decimals, as the number
 * nearest to it.
 */
export interface Tally extends AnalyticsRequest {
  /** Null where no money is added up. */
  readonly currencyCode: string | null
  /** When the bucket begins. */
  readonly bucket: Millis
  readonly count: number
  readonly sum: number
  readonly average: number
}

/** A question about a tenant. */
export interface Question {
  readonly wanted: ReadonlyArray<AnalyticsRequest>
  readonly range: Range
  readonly interval: Interval
  readonly where: Where
}

export class Analytics extends Context.Service<
  Analytics,
  {
    /** What there is of the events that are wanted, bucket by bucket; nothing where there are none. */
    tallies(tenant: Tenant, question: Question): Effect.Effect<ReadonlyArray<Tally>, QueryTooLong | Unavailable>
  }
>()("usher/store/organization/Analytics") {
  /** With another time than usual after which a query is given up. */
  static readonly layerWith = ({ queryMillisMax }: { readonly queryMillisMax: number }) =>
    Layer.effect(Analytics, make(queryMillisMax))

  static readonly layer = Analytics.layerWith({ queryMillisMax })
}

function make(millisMax: number) {
  return Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const oneOfFew = yield* FewAtOnce.make("analytics queries", { most: queriesAtOnce, waitingMax: queriesMax })

    const is = (column: string, value: string | null | undefined): ReadonlyArray<Fragment> =>
      value === null || value === undefined ? [] : [sql`${sql(column)} = ${value}`]

    const inRange = (column: string, { from, to }: Range) =>
      sql`${sql(column)} >= ${new Date(from)}::timestamptz and ${sql(column)} < ${new Date(to)}::timestamptz`

    /** Events out of the journals of the tenant's mechanisms, archived ones included. */
    const journaled = (
      { organizationId, mode }: Tenant,
      { wanted, range, where }: Question
    ): ReadonlyArray<Fragment> => {
      const events = wanted.filter(({ kind }) => kind !== "order")
      if (events.length === 0) return []
      const mechanisms = sql.and([
        sql`m.organization_id = ${organizationId}`,
        sql`m.mode = ${mode}`,
        ...is("m.id", where.distributionId),
        ...is("m.experience_id", where.experienceId),
        ...is("m.sequence_id", where.sequenceId),
        ...is("m.kind", where.distributionType),
        ...(where.currencyCode ? [sql`m.configuration ->> 'currencyCode' = ${where.currencyCode}`] : [])
      ])
      return [
        sql`
        select w.kind, w.type, w.field, case when w.is_money then m.configuration ->> 'currencyCode' end, j.at,
          case when w.field is not null then coalesce((j.data ->> w.field)::numeric, 0) end as value
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

    /** What happened to orders, each by the index over the moment at which it did. */
    const ordered = ({ organizationId, mode }: Tenant, { wanted, range, where }: Question): ReadonlyArray<Fragment> => {
      const orders = sql.and([
        sql`o.organization_id = ${organizationId}`,
        sql`o.mode = ${mode}`,
        ...is("o.distribution_id", where.distributionId),
        ...is("o.experience_id", where.experienceId),
        ...is("o.sequence_id", where.sequenceId),
        ...is("o.distribution_type", where.distributionType),
        ...is("o.currency_code", where.currencyCode)
      ])
      return wanted
        .filter(({ kind }) => kind === "order")
        .map(
          ({ type, field }) => sql`
          select 'order', ${type}::text, ${field}::text, ${isMoney(field) ? sql`o.currency_code` : sql`null`},
            ${sql(`o.${type}_at`)}, o.total
          from orders o where ${orders} and ${inRange(`o.${type}_at`, range)}`
        )
    }

    const tallies = Effect.fn("Analytics.tallies")(function* (tenant: Tenant, question: Question) {
      const happened = [...journaled(tenant, question), ...ordered(tenant, question)]
      if (happened.length === 0) return []
      const length = intervalMillis[question.interval]
      return yield* Effect.gen(function* () {
        // The buckets are few and the events many: grouped by hash they need not be sorted first, which would be on disk.
        yield* sql`
          select set_config('statement_timeout', ${`${millisMax}`}, true), set_config('enable_sort', 'off', true)`
        const rows = yield* sql<Row>`
        select date_bin(${length} * interval '1 millisecond', at, timestamptz 'epoch') as bucket, kind, type, field,
          currency_code as "currencyCode", count(*) as count, coalesce(sum(value), 0)::float8 as sum, coalesce(avg(value), 0)::float8 as average
        from (${sql.join(" union all ", false)(happened)}) as happened (kind, type, field, currency_code, at, value)
        group by 1, 2, 3, 4, 5`
        return rows.map(toTally)
      }).pipe(
        sql.withTransaction,
        Effect.catchTag("SqlError", (error): Effect.Effect<never, QueryTooLong | SqlError> =>
          error.reason._tag === "StatementTimeoutError"
            ? Effect.fail(new QueryTooLong({ seconds: millisMax / 1000 }))
            : Effect.fail(error)
        ),
        oneOfFew
      )
    }, orUnavailable)

    return { tallies }
  })
}

interface Row extends AnalyticsRequest {
  readonly bucket: Date
  readonly currencyCode: string | null
  readonly count: bigint
  readonly sum: number
  readonly average: number
}

const toTally = ({ bucket, count, ...row }: Row): Tally => ({
  ...row,
  bucket: bucket.getTime(),
  count: Number(count)
})
