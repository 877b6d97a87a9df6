/**
 * Lists a mechanism's recorded events for administrators. Events appear as they were stored, in the shape they had
 * then.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { historySorts } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { listShape, makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** One recorded event. */
export interface HistoryEntry {
  /** The event's number in the mechanism, from 1. */
  readonly sequence: number
  readonly type: string
  readonly at: Millis
  readonly consumerId: string | null
  /** The event's own fields, as stored. */
  readonly data: { readonly [name: string]: unknown }
}

export interface HistoryFilter {
  readonly type?: string | undefined
}

/** The list of a mechanism's events, in the order of their numbers. */
export const shape = listShape(
  "distribution history",
  "j",
  historySorts,
  { sequence: "bigint" },
  { id: { expression: "j.sequence", type: "bigint" } }
)

/**
 * Events that a filtered page may scan in order. Events are stored in this order, so scanning some 20 costs as much
 * as scanning one consumer.
 */
const nearRows = 50_000

export class History extends Context.Service<
  History,
  {
    /** Returns the events of a mechanism; none if it does not belong to the tenant. */
    list(
      tenant: Tenant,
      mechanismId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: HistoryFilter
    ): Effect.Effect<Page<HistoryEntry>, PageRefused | Unavailable>
  }
>()("usher/store/journal/History") {
  static readonly layer = Layer.effect(History)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan

      const list = Effect.fn("History.list")(function* (
        tenant: Tenant,
        mechanismId: string,
        query: PageQuery<keyof typeof shape.sorts>,
        { type }: HistoryFilter
      ) {
        const planned = yield* plan(shape, query, { tenant, filter: { mechanismId, type } })
        const ofType = sql`j.type = ${type ?? null}`
        const found = Search.rows<Row>(sql, planned, {
          fields: sql`j.*`,
          from: sql`journal j`,
          where: sql`j.mechanism_id = ${mechanismId} and exists (select 1 from mechanisms where id = ${mechanismId}
            and ${ofTenant(sql, tenant)})`,
          sought: type === undefined ? undefined : { fits: ofType, ways: [ofType], nearRows }
        })
        // The best plan depends on how rare the type is, so this statement is planned for each execution.
        const rows = yield* type === undefined ? found : found.unprepared
        return page(planned, rows, toEntry)
      }, orUnavailable)

      return { list }
    })
  )
}

interface Row {
  readonly sequence: bigint
  readonly type: string
  readonly at: Date
  readonly consumer_id: string | null
  readonly data: { readonly [name: string]: unknown } | null
}

const toEntry = (row: Row): HistoryEntry => ({
  sequence: Number(row.sequence),
  type: row.type,
  at: row.at.getTime(),
  consumerId: row.consumer_id,
  data: row.data ?? {}
})
