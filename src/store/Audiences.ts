/**
 * The audiences and their members. The number of members is kept with the audience, in the transaction that changes them.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Audience, Settings } from "../domain/Audience.ts"
import type { Tenant } from "../domain/Ids.ts"
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
import { RecordNotFound } from "./RecordNotFound.ts"
import { orUnavailable } from "./SqlFailure.ts"

/** What archiving found: it is done, or sequences are still for this audience. */
export type AudienceArchival =
  | { readonly _tag: "Archived"; readonly record: Audience }
  | { readonly _tag: "InUse"; readonly sequences: number }

/** The list of audiences (interface document 8.3). Sorted by `lastRefreshedAt`, those that never had members come first. */
export const shape = {
  name: "audiences",
  sorts: {
    createdAt: { expression: "a.created_at", type: "timestamptz" },
    name: { expression: "a.name", type: "text" },
    lastRefreshedAt: { expression: "coalesce(a.last_refreshed_at, '-infinity')", type: "timestamptz" }
  },
  id: { expression: "a.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "name" | "lastRefreshedAt">

export class Audiences extends Context.Service<
  Audiences,
  {
    create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<Audience, Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Audience, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Audience>, PageRefused | Unavailable>
    change(
      tenant: Tenant,
      id: string,
      by: string,
      changes: Partial<Settings>
    ): Effect.Effect<Audience, RecordNotFound | Unavailable>
    /** Archives the audience, if no sequence is for it. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<AudienceArchival, RecordNotFound | Unavailable>
  }
>()("usher/store/Audiences") {
  static readonly layer = Layer.effect(
    Audiences,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom

      const ofTenant = (tenant: Tenant) => sql`a.organization_id = ${tenant.organizationId} and a.mode = ${tenant.mode}`

      const one = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? notFound : Effect.succeed(toAudience(rows[0])))

      const create = Effect.fn("Audiences.create")(function* (tenant: Tenant, by: string, { name }: Settings) {
        const id = yield* random.uuidV7()
        const now = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* sql<Row>`
          insert into audiences
            (id, organization_id, mode, name, type, created_at, created_by, updated_at, updated_by)
          values (${id}, ${tenant.organizationId}, ${tenant.mode}, ${name}, 'STATIC', ${now}, ${by}, ${now}, ${by})
          returning *`
        return toAudience(rows[0]!)
      }, orUnavailable)

      const find = Effect.fn("Audiences.find")(function* (tenant: Tenant, id: string) {
        return yield* one(
          yield* sql<Row>`select a.* from audiences a where a.id = ${id} and ${ofTenant(tenant)} and not a.archived`
        )
      }, orUnavailable)

      const list = Effect.fn("Audiences.list")(function* (tenant: Tenant, query: PageQuery<keyof typeof shape.sorts>) {
        const now = yield* Clock.currentTimeMillis
        const planned = yield* Effect.fromResult(plan(shape, query, { tenant, filter: {} }, now))
        const { columns, condition, order } = keyset(sql, planned)
        const matching = query.search === undefined ? sql`true` : sql`a.name ilike ${containing(query.search)}`
        const rows = yield* sql<Row & { readonly sortKey: string; readonly sortId: string }>`
          select a.*, ${columns} from audiences a
          where ${ofTenant(tenant)} and not a.archived and ${matching} and ${condition} ${order}`
        return page(planned, rows, toAudience)
      }, orUnavailable)

      const change = Effect.fn("Audiences.change")(function* (
        tenant: Tenant,
        id: string,
        by: string,
        { name }: Partial<Settings>
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* one(
          yield* sql<Row>`
            update audiences a set name = coalesce(${name ?? null}, a.name), updated_at = ${now}, updated_by = ${by}
            where a.id = ${id} and ${ofTenant(tenant)} and not a.archived returning *`
        )
      }, orUnavailable)

      const archive = Effect.fn("Audiences.archive")(
        function* (tenant: Tenant, id: string, by: string) {
          // Locked first: a sequence that is about to be for it waits, and then does not find it any more.
          yield* Effect.flatMap(
            sql<Row>`
              select a.* from audiences a where a.id = ${id} and ${ofTenant(tenant)} and not a.archived for update`,
            one
          )
          const users = yield* sql<{ readonly count: number }>`
            select count(*)::int as count from sequences where audience_id = ${id} and not archived`
          const sequences = users[0]!.count
          if (sequences > 0) return { _tag: "InUse" as const, sequences }
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            update audiences set archived = true, updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          return { _tag: "Archived" as const, record: toAudience(rows[0]!) }
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, find, list, change, archive }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Audience" }))

/** A row of `audiences`. */
export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly type: "STATIC" | "DYNAMIC"
  readonly member_count: bigint
  readonly last_refreshed_at: Date | null
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

/** The audience of a row. */
export const toAudience = (row: Row): Audience => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  type: row.type,
  memberCount: Number(row.member_count),
  lastRefreshedAt: row.last_refreshed_at?.getTime() ?? null,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})
