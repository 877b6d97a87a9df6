/**
 * The consumers of a mechanism, from the `places` projection: for lists and search. What a consumer sees of its own
 * place comes from the actor, not from here.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { Tenant } from "../domain/Ids.ts"
import type { Millis } from "../domain/Time.ts"
import type { Unavailable } from "./Journal.ts"
import {
  containing,
  keyset,
  type ListShape,
  page,
  type Page,
  type PageQuery,
  type PageRefused,
  plan
} from "./Pagination.ts"
import { orUnavailable } from "./SqlFailure.ts"

/** A consumer's standing in one mechanism, with what is known of the consumer. */
export interface ConsumerPlace {
  readonly consumerId: string
  readonly email: string | null
  readonly phone: string | null
  readonly fullName: string | null
  readonly status: string
  readonly enteredAt: Millis
  readonly updatedAt: Millis
  /** The status's own fields, as they go out. */
  readonly fields: { readonly [name: string]: unknown }
}

/** What a list of consumers can be narrowed to. */
export interface PlaceFilter {
  readonly status?: string | undefined
}

/** The list of a mechanism's consumers, in the order they entered. */
export const shape = {
  name: "distribution consumers",
  sorts: {
    enteredAt: { expression: "p.entered_at", type: "timestamptz" },
    consumerId: { expression: "p.consumer_id", type: "uuid" }
  },
  id: { expression: "p.consumer_id", type: "uuid" }
} as const satisfies ListShape<"enteredAt" | "consumerId">

export class Places extends Context.Service<
  Places,
  {
    /** The consumers of a mechanism; none if it is not the tenant's. */
    list(
      tenant: Tenant,
      mechanismId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: PlaceFilter
    ): Effect.Effect<Page<ConsumerPlace>, PageRefused | Unavailable>
  }
>()("usher/store/Places") {
  static readonly layer = Layer.effect(
    Places,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      /** A whole id is looked up by key; anything else may be part of an address, or how an id begins. */
      const matching = (search: string) =>
        uuidPattern.test(search)
          ? sql`p.consumer_id = ${search}::uuid`
          : sql`(c.email ilike ${containing(search)} or c.phone ilike ${containing(search)}
              or p.consumer_id::text like ${containing(search.toLowerCase()).slice(1)})`

      const list = Effect.fn("Places.list")(function* (
        tenant: Tenant,
        mechanismId: string,
        query: PageQuery<keyof typeof shape.sorts>,
        { status }: PlaceFilter
      ) {
        const now = yield* Clock.currentTimeMillis
        const planned = yield* Effect.fromResult(plan(shape, query, { tenant, filter: { mechanismId, status } }, now))
        const { columns, condition, order } = keyset(sql, planned)
        const conditions = [
          sql`p.mechanism_id = ${mechanismId}`,
          sql`exists (select 1 from mechanisms where id = ${mechanismId}
            and organization_id = ${tenant.organizationId} and mode = ${tenant.mode})`,
          condition
        ]
        if (status !== undefined) conditions.push(sql`p.status = ${status}`)
        if (query.search !== undefined) conditions.push(matching(query.search))
        const rows = yield* sql<Row & { readonly sortKey: string; readonly sortId: string }>`
          select p.*, c.email, c.phone, c.full_name, ${columns}
          from places p
          left join consumers c on c.id = p.consumer_id
            and c.organization_id = ${tenant.organizationId} and c.mode = ${tenant.mode}
          where ${sql.and(conditions)} ${order}`
        return page(planned, rows, toConsumerPlace)
      }, orUnavailable)

      return { list }
    })
  )
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Row {
  readonly consumer_id: string
  readonly email: string | null
  readonly phone: string | null
  readonly full_name: string | null
  readonly status: string
  readonly entered_at: Date
  readonly updated_at: Date
  readonly fields: { readonly [name: string]: unknown } | null
}

const toConsumerPlace = (row: Row): ConsumerPlace => ({
  consumerId: row.consumer_id,
  email: row.email,
  phone: row.phone,
  fullName: row.full_name,
  status: row.status,
  enteredAt: row.entered_at.getTime(),
  updatedAt: row.updated_at.getTime(),
  fields: row.fields ?? {}
})
