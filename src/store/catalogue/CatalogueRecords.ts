/**
 * Records of the catalogue that are a row and nothing else: media assets and sync sources. All are created, found,
 * listed, changed and archived in one way; a kind says what its rows hold and what keeps one of them in use.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type CatalogueArchival, type CatalogueRow, newRow } from "./CatalogueRows.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import {
  archivedAsAsked,
  type Filter,
  type ListShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused
} from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** What can be done with the records of a kind. */
export interface CatalogueRecords<Settings, Record, Sort extends string> {
  create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<Record, Unavailable>
  find(tenant: Tenant, id: string): Effect.Effect<Record, RecordNotFound | Unavailable>
  list(tenant: Tenant, query: PageQuery<Sort>, filter: Filter): Effect.Effect<Page<Record>, PageRefused | Unavailable>
  /** Replaces the settings by what `revise` makes of them; nobody else changes them meanwhile. */
  change(
    tenant: Tenant,
    id: string,
    by: string,
    revise: (settings: Settings) => Settings
  ): Effect.Effect<Record, RecordNotFound | Unavailable>
  /** Archives the record, if nothing needs it. */
  archive(
    tenant: Tenant,
    id: string,
    by: string
  ): Effect.Effect<CatalogueArchival<Record>, RecordNotFound | Unavailable>
  /** Takes the record out of the archive. */
  restore(tenant: Tenant, id: string, by: string): Effect.Effect<Record, RecordNotFound | Unavailable>
}

/** What is special about a kind; in SQL its table is called `r`. */
export interface CatalogueKind<Settings, Record, Row extends CatalogueRow, Sort extends string> {
  /** What its repository is called in traces. */
  readonly service: string
  readonly record: RecordNotFound["record"]
  readonly table: string
  readonly shape: ListShape<Sort>
  /** The text that a search looks into, as an SQL expression. */
  readonly searched: string
  /** The settings as columns. */
  readonly columnsOf: (settings: Settings) => { readonly record: object }
  readonly settingsOf: (row: Row) => Settings
  readonly recordOf: (row: Row) => Record
  /** The settings a list can be narrowed by, as SQL expressions. */
  readonly filters: { readonly [name: string]: string }
  /** Counts what needs a record, as `count`. */
  readonly usersOf: (sql: PgClient.PgClient, id: string) => Fragment
}

/** The repository of a kind. */
export const makeCatalogueRecords = <Settings, Record, Row extends CatalogueRow, Sort extends string>(
  kind: CatalogueKind<Settings, Record, Row, Sort>
) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const plan = yield* makePlan
    const random = yield* SecureRandom.SecureRandom
    const table = sql(kind.table)
    const named = (operation: string) => `${kind.service}.${operation}`

    const ofTenant = ({ organizationId, mode }: Tenant) =>
      sql`r.organization_id = ${organizationId} and r.mode = ${mode}`

    const unarchived = (tenant: Tenant) => sql`${ofTenant(tenant)} and not r.archived`

    const one = ([row]: ReadonlyArray<Row>): Effect.Effect<Row, RecordNotFound> =>
      row === undefined ? Effect.fail(new RecordNotFound({ record: kind.record })) : Effect.succeed(row)

    /** Keeps the row to this transaction, and out of the hands of those who begin to use it. */
    const locked = (tenant: Tenant, id: string) =>
      Effect.flatMap(sql<Row>`select r.* from ${table} r where r.id = ${id} and ${unarchived(tenant)} for update`, one)

    const columnsOf = (settings: Settings) => {
      const { record, ...columns } = kind.columnsOf(settings)
      return { ...columns, record: sql.json(record) }
    }

    const create = Effect.fn(named("create"))(function* (tenant: Tenant, by: string, settings: Settings) {
      const id = yield* random.uuidV7()
      const row = { ...newRow(tenant, id, by, yield* Clock.currentTimeMillis), ...columnsOf(settings) }
      const rows = yield* sql<Row>`insert into ${table} ${sql.insert(row).returning("*")}`
      return kind.recordOf(rows[0]!)
    }, orUnavailable)

    const find = Effect.fn(named("find"))(function* (tenant: Tenant, id: string) {
      const rows = yield* sql<Row>`select r.* from ${table} r where r.id = ${id} and ${unarchived(tenant)}`
      return kind.recordOf(yield* one(rows))
    }, orUnavailable)

    const list = Effect.fn(named("list"))(function* (tenant: Tenant, query: PageQuery<Sort>, filter: Filter) {
      const planned = yield* plan(kind.shape, query, { tenant, filter })
      const narrowed = Object.entries(filter).flatMap(([name, value]) =>
        value === undefined ? [] : [sql`${sql.literal(kind.filters[name]!)} = ${value}`]
      )
      const rows = yield* Search.rows<Row>(sql, planned, {
        fields: sql`r.*`,
        from: sql`${table} r`,
        where: sql.and([ofTenant(tenant), archivedAsAsked(sql, "r", query), ...narrowed]),
        sought: Search.textSought(sql, { tenant, row: "r", text: kind.searched }, query.search)
      })
      return page(planned, rows, kind.recordOf)
    }, orUnavailable)

    const change = Effect.fn(named("change"))(
      function* (tenant: Tenant, id: string, by: string, revise: (settings: Settings) => Settings) {
        const settings = revise(kind.settingsOf(yield* locked(tenant, id)))
        const now = new Date(yield* Clock.currentTimeMillis)
        const row = { ...columnsOf(settings), updated_at: now, updated_by: by }
        const rows = yield* sql<Row>`update ${table} set ${sql.update(row)} where id = ${id} returning *`
        return kind.recordOf(rows[0]!)
      },
      sql.withTransaction,
      orUnavailable
    )

    const archive = Effect.fn(named("archive"))(
      function* (tenant: Tenant, id: string, by: string) {
        yield* locked(tenant, id)
        const counted = yield* sql<{ readonly count: number }>`${kind.usersOf(sql, id)}`
        const users = counted[0]!.count
        if (users > 0) return { _tag: "InUse" as const, users }
        const now = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* sql<Row>`
          update ${table} set archived = true, updated_at = ${now}, updated_by = ${by} where id = ${id} returning *`
        return { _tag: "Archived" as const, record: kind.recordOf(rows[0]!) }
      },
      sql.withTransaction,
      orUnavailable
    )

    const restore = Effect.fn(named("restore"))(function* (tenant: Tenant, id: string, by: string) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const restored = yield* sql<Row>`
        update ${table} r set archived = false, updated_at = ${now}, updated_by = ${by}
        where r.id = ${id} and ${ofTenant(tenant)} and r.archived returning *`
      const [row] = restored
      return row === undefined ? yield* find(tenant, id) : kind.recordOf(row)
    }, orUnavailable)

    return { create, find, list, change, archive, restore } satisfies CatalogueRecords<Settings, Record, Sort>
  })
