/**
 * The lists of records: a page of the tenant's rows that match filters and a search.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Struct } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Declaration } from "./Declaration.ts"
import {
  archivedAsAsked,
  equal,
  type Filter,
  type ListShape,
  makePlan,
  page,
  type PageQuery,
  type Period,
  type RowKey,
  type Scope,
  within
} from "./Pagination.ts"
import type { RecordRow } from "./Rows.ts"
import * as Search from "./Search.ts"
import { ofTenant } from "./Tenancy.ts"

/** The parts of a declaration that determine a list. */
type Listable<Row extends RecordRow, A, Sort extends string> = Pick<
  Declaration<Row, A, Sort>,
  "service" | "table" | "alias" | "isArchivable" | "fields" | "joined" | "recordsOf" | "list"
>

/** Creates the `list` of a kind of record. */
export const makeList = <Row extends RecordRow, A, Sort extends string>(declaration: Listable<Row, A, Sort>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const plan = yield* makePlan
    const { service, alias, fields, joined, recordsOf, list } = declaration
    return Effect.fn(`${service}.list`)(function* (tenant: Tenant, query: PageQuery<Sort>, filter: Filter = {}) {
      const planned = yield* plan(list.shape, query, { tenant, filter: filtersOf(declaration, filter) })
      const rows = yield* Search.rows<Row>(sql, planned, {
        fields: fields?.(sql) ?? sql.literal(`${alias}.*`),
        beside: joined?.(sql),
        ...listed(sql, declaration, tenant, query, filter)
      })
      const records = yield* recordsOf(rows, sql)
      const byId = new Map(rows.map(({ id }, index) => [id, records[index]!]))
      return page(planned, rows, ({ id }) => byId.get(id)!)
    }, orUnavailable)
  })

/** Makes the function that returns a page of a list whose rows `toItem` decodes. */
export const makeReadPage = <Row, A, Sort extends string>(shape: ListShape<Sort>, toItem: (row: Row & RowKey) => A) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const plan = yield* makePlan
    return Effect.fnUntraced(function* (
      tenant: Tenant,
      query: PageQuery<Sort>,
      { filter, ...read }: Search.Planned & Pick<Scope, "filter">
    ) {
      const planned = yield* plan(shape, query, { tenant, filter })
      return page(planned, yield* Search.rows<Row>(sql, planned, read), toItem)
    })
  })

/** A list of a tenant's events. `columns` are the columns of its filters, and `at` is the time of an event. */
interface EventList<Name extends string> {
  readonly service: string
  readonly table: string
  readonly alias: string
  readonly fields: string
  readonly columns: { readonly [N in Name]: string }
  readonly at: string
}

/** Creates the `list` of events that match filters, in a period. */
export const makeEventList = <Row, A, Sort extends string, Name extends string>(
  shape: ListShape<Sort>,
  toItem: (row: Row & RowKey) => A,
  { service, table, alias, fields, columns, at }: EventList<Name>
) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const readPage = yield* makeReadPage(shape, toItem)
    const names = Struct.keys(columns)
    return Effect.fn(`${service}.list`)(function* (
      tenant: Tenant,
      query: PageQuery<Sort> & Period & { readonly [N in Name]?: string | undefined }
    ) {
      const filter = Object.fromEntries(names.map((name) => [name, query[name]]))
      const matches = equal(sql, Object.fromEntries(names.map((name) => [columns[name], query[name]])))
      return yield* readPage(tenant, query, {
        filter: { ...filter, from: query.from?.toString(), until: query.until?.toString() },
        fields: sql.literal(fields),
        from: sql`${sql(table)} ${sql.literal(alias)}`,
        where: sql.and([ofTenant(sql, tenant, alias), ...matches, ...within(sql, at, query)])
      })
    }, orUnavailable)
  })

/** Returns the filters of a list from the request, without its other fields. */
export const filtersOf = ({ list }: Pick<Declaration<RecordRow, unknown, string>, "list">, filter: Filter): Filter =>
  Object.fromEntries(Object.keys(list.filters ?? {}).map((name) => [name, filter[name]]))

/** Returns the rows of a list, for statements of `Search`. */
export const listed = (
  sql: PgClient.PgClient,
  {
    table,
    alias,
    isArchivable,
    list
  }: Pick<Declaration<RecordRow, unknown, string>, "table" | "alias" | "isArchivable" | "list">,
  tenant: Tenant,
  query: Pick<PageQuery<string>, "search" | "archived">,
  filter: Filter = {}
) => {
  const narrowed = Object.entries(list.filters ?? {}).flatMap(([name, expression]) =>
    filter[name] === undefined ? [] : [sql`${sql.literal(expression)} = ${filter[name]}`]
  )
  const archived = isArchivable === false ? [] : [archivedAsAsked(sql, alias, query)]
  return {
    from: sql`${sql(table)} ${sql.literal(alias)}`,
    where: sql.and([ofTenant(sql, tenant, alias), ...archived, ...narrowed]),
    sought: Search.textSought(sql, { tenant, row: alias, text: `fold_case(${list.searched})` }, query.search)
  }
}
