/**
 * A mechanism's recorded events, for people to read. They are shown as they were stored, whatever shape they had then.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type ListShape, makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** One recorded event. */
export interface HistoryEntry {
  /** The event's place in the mechanism's order, from 1. */
  readonly sequence: number
  readonly type: string
  readonly at: Millis
  readonly consumerId: string | null
  /** The event's own fields, as stored. */
  readonly data: { readonly [name: string]: unknown }
}

/** What a history can be narrowed to. */
export interface HistoryFilter {
  readonly type?: string | undefined
}

/** The list of a mechanism's events, in their order. */
export const shape = {
  name: "distribution history",
  sorts: { sequence: { expression: "j.sequence", type: "bigint" } },
  id: { expression: "j.sequence", type: "bigint" }
} as const satisfies ListShape<"sequence">

/** Events that are looked at one by one: they lie in this order, so some 20 are looked at in the time of a consumer. */
const nearRows = 50_000

export class History extends Context.Service<
  History,
  {
    /** The events of a mechanism; none if it is not the tenant's. */
    list(
      tenant: Tenant,
      mechanismId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: HistoryFilter
    ): Effect.Effect<Page<HistoryEntry>, PageRefused | Unavailable>
  }
>()("usher/store/journal/History") {
  static readonly layer = Layer.effect(
    History,
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
            and organization_id = ${tenant.organizationId} and mode = ${tenant.mode})`,
          sought: type === undefined ? undefined : { fits: ofType, ways: [ofType], nearRows }
        })
        // How rare a type is decides how it is looked for: such a statement is planned anew for each.
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
