/**
 * The audiences. The number of members is kept with the audience: in the transaction that changes them, or where they
 * follow from rules, as it was when they were last counted.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Audience, AudienceType, Settings } from "../../domain/consumer/Audience.ts"
import type { AudienceRules } from "../../domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { fits } from "./AudienceRules.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import {
  archivedAsAsked,
  type ListShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused
} from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { tellMembersRemoved } from "../experience/SequenceAccess.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** How long the members of a DYNAMIC audience are not counted again, however often it is read. */
export const countedSeconds = 60

/** An audience stays of the type it was created with. Nothing has changed. */
export class AudienceTypeFixed extends Schema.TaggedError<AudienceTypeFixed>()("AudienceTypeFixed", {}) {}

/** What can be changed of an audience; rules are those of a DYNAMIC one. */
export interface AudienceChanges extends Partial<Settings> {
  /** The type it is taken to have. */
  readonly type?: AudienceType | undefined
}

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
    /** The audience; the members of a DYNAMIC one are counted, unless they were within `countedSeconds`. */
    find(tenant: Tenant, id: string): Effect.Effect<Audience, RecordNotFound | Unavailable>
    /** With the members of DYNAMIC audiences as they were last counted. */
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Audience>, PageRefused | Unavailable>
    /** Changes the audience. Who fits new rules no more cannot enter any longer; every process is told. */
    change(
      tenant: Tenant,
      id: string,
      by: string,
      changes: AudienceChanges
    ): Effect.Effect<Audience, AudienceTypeFixed | RecordNotFound | Unavailable>
    /** Archives the audience, if no sequence is for it. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<AudienceArchival, RecordNotFound | Unavailable>
    /** Takes the audience out of the archive, with the members it had. */
    restore(tenant: Tenant, id: string, by: string): Effect.Effect<Audience, RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/Audiences") {
  static readonly layer = Layer.effect(
    Audiences,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom

      const ofTenant = (tenant: Tenant) => sql`a.organization_id = ${tenant.organizationId} and a.mode = ${tenant.mode}`

      const one = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? notFound : Effect.succeed(rows[0]))

      /** The audience with its members counted, if they follow from rules. */
      const counted = Effect.fnUntraced(function* (tenant: Tenant, row: Row) {
        if (row.rules === null) return toAudience(row)
        const now = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* sql<Row>`
          update audiences set last_refreshed_at = ${now}, member_count = (
            select count(*) from consumers c
            where c.organization_id = ${tenant.organizationId} and c.mode = ${tenant.mode} and not c.archived
              and ${fits(sql, row.rules)}
          )
          where id = ${row.id} returning *`
        return toAudience(rows[0]!)
      })

      const create = Effect.fn("Audiences.create")(
        function* (tenant: Tenant, by: string, { name, rules }: Settings) {
          const id = yield* random.uuidV7()
          const now = new Date(yield* Clock.currentTimeMillis)
          const type = rules === undefined ? "STATIC" : "DYNAMIC"
          const rows = yield* sql<Row>`
            insert into audiences
              (id, organization_id, mode, name, type, rules, created_at, created_by, updated_at, updated_by)
            values (${id}, ${tenant.organizationId}, ${tenant.mode}, ${name}, ${type},
              ${rules === undefined ? null : sql.json(rules)}, ${now}, ${by}, ${now}, ${by})
            returning *`
          return yield* counted(tenant, rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      /** Counts, unless somebody else is doing so. */
      const refreshed = Effect.fnUntraced(function* (tenant: Tenant, row: Row) {
        const stale = new Date((yield* Clock.currentTimeMillis) - countedSeconds * 1000)
        const held = yield* sql<Row>`
          select a.* from audiences a
          where a.id = ${row.id} and not a.archived and (a.last_refreshed_at is null or a.last_refreshed_at <= ${stale})
          for update skip locked`
        return held[0] === undefined ? toAudience(row) : yield* counted(tenant, held[0])
      }, sql.withTransaction)

      const find = Effect.fn("Audiences.find")(function* (tenant: Tenant, id: string) {
        const row = yield* one(
          yield* sql<Row>`select a.* from audiences a where a.id = ${id} and ${ofTenant(tenant)} and not a.archived`
        )
        const now = yield* Clock.currentTimeMillis
        const countedAt = row.last_refreshed_at?.getTime() ?? 0
        const isFresh = row.rules === null || countedAt + countedSeconds * 1000 > now
        return isFresh ? toAudience(row) : yield* refreshed(tenant, row)
      }, orUnavailable)

      const list = Effect.fn("Audiences.list")(function* (tenant: Tenant, query: PageQuery<keyof typeof shape.sorts>) {
        const planned = yield* plan(shape, query, { tenant, filter: {} })
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`a.*`,
          from: sql`audiences a`,
          where: sql`${ofTenant(tenant)} and ${archivedAsAsked(sql, "a", query)}`,
          sought: Search.textSought(sql, { tenant, row: "a", text: "a.name" }, query.search)
        })
        return page(planned, rows, toAudience)
      }, orUnavailable)

      const change = Effect.fn("Audiences.change")(
        function* (tenant: Tenant, id: string, by: string, { name, rules, type }: AudienceChanges) {
          const row = yield* Effect.flatMap(
            sql<Row>`
              select a.* from audiences a where a.id = ${id} and ${ofTenant(tenant)} and not a.archived for update`,
            one
          )
          if (type !== undefined && type !== row.type) return yield* new AudienceTypeFixed()
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            update audiences a
            set name = coalesce(${name ?? null}, a.name), updated_at = ${now}, updated_by = ${by},
              rules = coalesce(${rules === undefined ? null : sql.json(rules)}::jsonb, a.rules)
            where a.id = ${id} returning *`
          if (rules === undefined) return toAudience(rows[0]!)
          yield* tellMembersRemoved(sql)
          return yield* counted(tenant, rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

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

      const restore = Effect.fn("Audiences.restore")(function* (tenant: Tenant, id: string, by: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`
          update audiences a set archived = false, updated_at = ${now}, updated_by = ${by}
          where a.id = ${id} and ${ofTenant(tenant)} and a.archived`
        return yield* find(tenant, id)
      }, orUnavailable)

      return { create, find, list, change, archive, restore }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Audience" }))

/** A row of `audiences`. */
export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly type: AudienceType
  readonly rules: AudienceRules | null
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
  rules: row.rules,
  memberCount: Number(row.member_count),
  lastRefreshedAt: row.last_refreshed_at?.getTime() ?? null,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})
