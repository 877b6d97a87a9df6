/**
 * Uploaded files with their bytes: what pictures and fonts share. A file never changes. Its id is random: who knows it may
 * read the file.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import { actingAs } from "../organization/TenantEvents.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { usedBy } from "../records/Declaration.ts"
import { makeReadPage } from "../records/Lists.ts"
import type { ListShape, PageQuery } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** The columns that all files have, beside `organization_id`, `mode` and `bytes`. */
export interface UploadRow {
  readonly id: string
  readonly size: number
  readonly created_at: Date
  readonly created_by: string
}

/** What a tenant has. */
export interface Held {
  readonly count: number
  readonly bytes: number
}

interface Declaration<Row extends UploadRow, A, Sort extends string> {
  /** The name of the service, for traces. */
  readonly service: string
  readonly record: RecordNotFound["record"]
  readonly table: string
  readonly alias: string
  readonly shape: ListShape<Sort>
  /** The columns of `Row`, with the alias. */
  readonly columns: string
  readonly toRecord: (row: Row) => A
  readonly pathOf: (id: string) => string
  /** Counts those who name the address, beside looks. */
  readonly moreUsers?: (sql: PgClient.PgClient, tenant: Tenant, path: string) => Fragment
}

/** The columns that only this kind of file has, with constant ones that are not read. */
type Own<Row extends UploadRow> = Omit<Row, keyof UploadRow> & { readonly content_type?: string }

/** Makes the operations on one kind of file. */
export const make = <Row extends UploadRow, A, Sort extends string>(declaration: Declaration<Row, A, Sort>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const random = yield* SecureRandom.SecureRandom
    return {
      create: makeCreate(sql, random, declaration),
      remove: makeRemove(sql, declaration),
      ...(yield* makeReading(declaration))
    }
  })

/** Stores a file. Returns undefined if `isFull` says so of what the tenant has. */
const makeCreate = <Row extends UploadRow, A, Sort extends string>(
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  { service, table, toRecord }: Declaration<Row, A, Sort>
) =>
  Effect.fn(`${service}.create`)(
    function* (tenant: Tenant, by: string, bytes: Uint8Array, own: Own<Row>, isFull: (held: Held) => boolean) {
      // Uploads of an organization count one after the other.
      yield* sql`select from organizations where id = ${tenant.organizationId} for no key update`
      const [held] = yield* sql<Held>`
        select count(*)::int as count, coalesce(sum(size), 0)::float8 as bytes from ${sql(table)}
        where ${ofTenant(sql, tenant)}`
      if (isFull(held!)) return undefined
      const row = {
        ...own,
        id: yield* random.uuidV4(),
        size: bytes.length,
        created_at: new Date(yield* Time.now),
        created_by: by
      }
      const { organizationId: organization_id, mode } = tenant
      yield* sql`insert into ${sql(table)} ${sql.insert({ ...row, organization_id, mode, bytes })}`
      return toRecord(row as unknown as Row)
    },
    sql.withTransaction,
    orUnavailable
  )

/** Removes a file with its bytes, unless a record names it. */
const makeRemove = <Row extends UploadRow, A, Sort extends string>(
  sql: PgClient.PgClient,
  { service, record, table, alias, columns, toRecord, pathOf, moreUsers }: Declaration<Row, A, Sort>
) =>
  Effect.fn(`${service}.remove`)(
    function* (tenant: Tenant, id: string, by: string) {
      const [row] = yield* sql<Row>`
        select ${sql.literal(columns)} from ${sql(table)} ${sql(alias)}
        where id = ${id} and ${ofTenant(sql, tenant)} for update`
      if (row === undefined) return yield* new RecordNotFound({ record })
      const path = pathOf(id)
      const inUse = yield* usedBy(usersOf(sql, tenant, path, moreUsers?.(sql, tenant, path) ?? sql`0`))
      if (inUse !== undefined) return inUse
      yield* sql`select ${actingAs(sql, by)}`
      yield* sql`delete from ${sql(table)} where id = ${id} and ${ofTenant(sql, tenant)}`
      return { _tag: "Archived" as const, record: toRecord(row) }
    },
    sql.withTransaction,
    orUnavailable
  )

/** Counts the looks that name the address, of experiences and their pages and the organization's, and the others. */
const usersOf = (sql: PgClient.PgClient, tenant: Tenant, path: string, others: Fragment) =>
  sql<{ readonly count: number }>`
  select (
    (${others})
    + (select count(*) from experiences
      where ${unarchivedOf(sql, tenant)} and position(${path} in (record -> 'theme')::text) > 0)
    + (select count(*) from experience_pages
      where ${unarchivedOf(sql, tenant)} and position(${path} in creative_document::text) > 0)
    + (select count(*) from organizations
      where id = ${tenant.organizationId} and position(${path} in (settings -> 'theme')::text) > 0)
  )::int as count`

const makeReading = Effect.fnUntraced(function* <Row extends UploadRow, A, Sort extends string>({
  service,
  record,
  table,
  alias,
  shape,
  columns,
  toRecord
}: Declaration<Row, A, Sort>) {
  const sql = yield* PgClient.PgClient
  const readPage = yield* makeReadPage(shape, toRecord)
  const fields = sql.literal(columns)
  const from = sql`${sql(table)} ${sql(alias)}`

  const find = Effect.fn(`${service}.find`)(function* (tenant: Tenant, id: string) {
    const [row] = yield* sql<Row>`select ${fields} from ${from} where id = ${id} and ${ofTenant(sql, tenant, alias)}`
    return row === undefined ? yield* new RecordNotFound({ record }) : toRecord(row)
  }, orUnavailable)

  const list = Effect.fn(`${service}.list`)(function* (tenant: Tenant, query: PageQuery<Sort>) {
    return yield* readPage(tenant, query, { filter: {}, fields, from, where: ofTenant(sql, tenant, alias) })
  }, orUnavailable)

  const bytes = Effect.fn(`${service}.bytes`)(function* (id: string) {
    const [row] = yield* sql<{ readonly bytes: Uint8Array }>`select bytes from ${sql(table)} where id = ${id}`
    return row?.bytes
  }, orUnavailable)

  return { find, list, bytes }
})
