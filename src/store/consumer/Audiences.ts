/**
 * The audiences. Each stores the number of its members. The transaction that changes the members updates it. A DYNAMIC
 * audience stores the number of its last count.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { type Audience, type AudienceType, type Settings, audienceSorts } from "../../domain/consumer/Audience.ts"
import type { AudienceRules } from "../../domain/consumer/AudienceRules.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { tellMembersRemoved } from "../experience/SequenceAccess.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each, type InUse, usedBy } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, type RecordRow, stampOf } from "../records/Rows.ts"
import { unarchivedOf } from "../records/Tenancy.ts"
import { fits } from "./AudienceRules.ts"
import * as Time from "../coordination/Time.ts"

/** The minimum time between two counts of a DYNAMIC audience, however often it is read. */
export const countedSeconds = 60

/** The type of an audience cannot change. Nothing has changed. */
export class AudienceTypeFixed extends Schema.TaggedError<AudienceTypeFixed>()("AudienceTypeFixed", {}) {}

/** The changes of an audience. Only a DYNAMIC audience has rules. */
export interface AudienceChanges extends Partial<Settings> {
  /** The type that the caller expects it to have. */
  readonly type?: AudienceType | undefined
}

/** The list of audiences. Sorted by `lastRefreshedAt`, audiences that never had members come first. */
export const shape = listShape("audiences", "a", audienceSorts, {
  createdAt: "timestamptz",
  name: "text",
  lastRefreshedAt: { expression: "coalesce(a.last_refreshed_at, '-infinity')", type: "timestamptz" }
})

type Sort = keyof typeof shape.sorts

export interface Row extends RecordRow {
  readonly name: string
  readonly type: AudienceType
  readonly rules: AudienceRules | null
  readonly member_count: bigint
  readonly last_refreshed_at: Date | null
}

export const toAudience = (row: Row): Audience => ({
  ...identityAndStamps(row),
  name: row.name,
  type: row.type,
  rules: row.rules,
  memberCount: Number(row.member_count),
  lastRefreshedAt: row.last_refreshed_at?.getTime() ?? null
})

/** The kind of record. */
export const declaration: Declaration<Row, Audience, Sort, InUse> = {
  service: "Audiences",
  record: "Audience",
  table: "audiences",
  alias: "a",
  recordsOf: each(toAudience),
  list: { shape, searched: "a.name" },
  // Archiving locks the audience first. A concurrent sequence that names it waits, and then does not find it.
  blockedBy: (sql, { id }) =>
    usedBy(sql`select count(*)::int as count from sequences where audience_id = ${id} and not archived`)
}

/**
 * The audiences. `find` counts the members of a DYNAMIC audience, unless they were counted within `countedSeconds`. The
 * list shows the last count. An audience that a sequence names is in use. An audience is restored with its members.
 */
export class Audiences extends Context.Service<
  Audiences,
  Readable<Audience, Sort> &
    Archivable<Audience, InUse> & {
      create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<Audience, Unavailable>
      /** Changes the audience. Consumers that do not match new rules can no longer enter. Every process is notified. */
      change(
        tenant: Tenant,
        id: string,
        by: string,
        changes: AudienceChanges
      ): Effect.Effect<Audience, AudienceTypeFixed | RecordNotFound | Unavailable>
    }
>()("usher/store/consumer/Audiences") {
  static readonly layer = Layer.effect(Audiences)(
    Effect.gen(function* () {
      const { sql, statements, list, archive, restore } = yield* make(declaration)
      const { insert, lock, update } = statements
      const counted = makeCounted(sql)
      const refreshed = makeRefreshed(sql)

      const create = Effect.fn("Audiences.create")(
        function* (tenant: Tenant, by: string, { name, rules }: Settings) {
          const type = rules === undefined ? "STATIC" : "DYNAMIC"
          const columns = { name, type, rules: rules === undefined ? null : sql.json(rules) }
          return yield* counted(tenant, yield* insert(tenant, yield* stampOf(by), () => columns))
        },
        sql.withTransaction,
        orUnavailable
      )

      const find = Effect.fn("Audiences.find")(function* (tenant: Tenant, id: string) {
        const row = yield* statements.find(tenant, id)
        const now = yield* Time.serverNow
        const countedAt = row.last_refreshed_at?.getTime() ?? 0
        const isFresh = row.rules === null || countedAt + countedSeconds * 1000 > now
        return isFresh ? toAudience(row) : yield* refreshed(tenant, row)
      }, orUnavailable)

      const change = Effect.fn("Audiences.change")(
        function* (tenant: Tenant, id: string, by: string, { name, rules, type }: AudienceChanges) {
          const before = yield* lock(tenant, id)
          if (type !== undefined && type !== before.type) return yield* new AudienceTypeFixed()
          const row = yield* update(id, yield* stampOf(by), {
            ...(name !== undefined && { name }),
            ...(rules !== undefined && { rules: sql.json(rules) })
          })
          if (rules === undefined) return toAudience(row)
          yield* tellMembersRemoved(sql)
          return yield* counted(tenant, row)
        },
        sql.withTransaction,
        orUnavailable
      )

      return {
        create,
        find,
        list,
        change,
        archive,
        restore: (tenant, id, by) => Effect.andThen(restore(tenant, id, by), find(tenant, id))
      }
    })
  )
}

/** Counts the members of an audience, if it is DYNAMIC. */
const makeCounted = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (tenant: Tenant, row: Row) {
    if (row.rules === null) return toAudience(row)
    const now = new Date(yield* Time.serverNow)
    const rows = yield* sql<Row>`
      update audiences set last_refreshed_at = ${now}, member_count = (
        select count(*) from consumers c where ${unarchivedOf(sql, tenant, "c")} and ${fits(sql, row.rules)}
      )
      where id = ${row.id} returning *`
    return toAudience(rows[0]!)
  })

/** Counts the members, unless another transaction is counting them. */
const makeRefreshed = (sql: PgClient.PgClient) => {
  const counted = makeCounted(sql)
  return Effect.fnUntraced(function* (tenant: Tenant, row: Row) {
    const stale = new Date((yield* Time.serverNow) - countedSeconds * 1000)
    const held = yield* sql<Row>`
      select a.* from audiences a
      where a.id = ${row.id} and not a.archived and (a.last_refreshed_at is null or a.last_refreshed_at <= ${stale})
      for update skip locked`
    return held[0] === undefined ? toAudience(row) : yield* counted(tenant, held[0])
  }, sql.withTransaction)
}
