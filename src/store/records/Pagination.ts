/**
 * Pages of a list.
 *
 * A page is found by its key, never by counting rows. The order is the sort field and then the id, so it is total: no
 * row is skipped or shown twice when rows are inserted in between. A cursor (`Cursors.ts`) names the row at which a
 * page begins or ends. Every response carries new ones.
 */
import { createHash } from "node:crypto"
import { Effect, Result, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { pageSizeDefault } from "../../domain/values/Lists.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { type Binding, type Position, readCursor, type SortType, writeCursor } from "./Cursors.ts"
import { serverSecret } from "../coordination/ServerSecrets.ts"
import * as Time from "../coordination/Time.ts"

/** A sort field: a constant SQL expression that is never null, and its type. */
export interface SortField {
  readonly expression: string
  readonly type: SortType
}

/** A list: its sort fields by public name (the first is the default), and the unique field that orders equal rows. */
export interface ListShape<Sort extends string> {
  readonly name: string
  readonly sorts: { readonly [S in Sort]: SortField }
  /** A field that orders rows with an equal sort field, before `id`. A key is then the JSON text of both values. */
  readonly second?: SortField
  readonly id: SortField
}

/**
 * The list of the rows of a table, with the names of its sorts; the first is the default. `alias` is the table in the
 * statement. A sort is the type of the column that has its name (`createdAt`: `created_at`), or an expression. Equal
 * rows are ordered by `id`, a UUID unless it has a type.
 */
export const listShape = <const Sort extends string>(
  name: string,
  alias: string,
  names: ReadonlyArray<Sort>,
  fields: { readonly [S in Sort]: SortField["type"] | SortField },
  { id = `${alias}.id`, second }: { readonly id?: string | SortField; readonly second?: SortField } = {}
): ListShape<Sort> => ({
  name,
  sorts: Object.fromEntries(
    names.map((sort) => {
      const field: SortField["type"] | SortField = fields[sort]
      return [sort, typeof field === "string" ? { expression: `${alias}.${columnOf(sort)}`, type: field } : field]
    })
  ) as ListShape<Sort>["sorts"],
  id: typeof id === "string" ? { expression: id, type: "uuid" } : id,
  ...(second !== undefined && { second })
})

const columnOf = (sort: string): string => sort.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The parameters of a list request, decoded and in range. */
export interface PageQuery<Sort extends string> {
  readonly first?: number | undefined
  readonly after?: string | undefined
  readonly last?: number | undefined
  readonly before?: string | undefined
  readonly sortBy?: Sort | undefined
  readonly sortDir?: "asc" | "desc" | undefined
  readonly search?: string | undefined
  /** True: only archived rows. Lists of records that are never archived ignore it. */
  readonly archived?: boolean | undefined
}

/** The filters of a list, apart from `search`. */
export interface Filter {
  readonly [name: string]: string | undefined
}

/** The parameters do not form a page. 400 with the name of the parameter. */
export class PageRefused extends Schema.TaggedError<PageRefused>()("PageRefused", {
  parameter: Schema.String,
  expected: Schema.String,
  received: Schema.String
}) {}

/** A requested page. */
export interface Plan {
  readonly sort: SortField
  readonly id: SortField
  /** The direction of the statement: the sort direction, reversed for a page that ends at a cursor. */
  readonly walk: "asc" | "desc"
  readonly backward: boolean
  readonly limit: number
  /** The row after which the page starts. Undefined for an end of the list. */
  readonly position: Position | undefined
  readonly cursorAt: (row: RowKey) => string
}

/** The columns {@link keyset} adds to each row. */
export interface RowKey {
  readonly sortKey: string
  readonly sortId: string
}

/** One page and its cursors. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null }
}

/** The tenant whose rows are listed, and the filters. */
export interface Scope {
  readonly tenant: Tenant
  readonly filter: Filter
}

/** Reads the parameters of a request into a plan for one page, with the cursors of this installation. */
export const makePlan = Effect.map(serverSecret("cursors"), (secret) =>
  Effect.fnUntraced(function* <Sort extends string>(shape: ListShape<Sort>, query: PageQuery<Sort>, scope: Scope) {
    return yield* Effect.fromResult(planWith(secret, shape, query, scope, yield* Time.serverNow))
  })
)

/** Returns the plan at an instant, with cursors under the secret. */
export const planWith = <Sort extends string>(
  secret: Uint8Array,
  shape: ListShape<Sort>,
  query: PageQuery<Sort>,
  scope: Scope,
  now: Millis
): Result.Result<Plan, PageRefused> => {
  const forward = query.first !== undefined || query.after !== undefined
  const backward = query.last !== undefined || query.before !== undefined
  if (forward && backward) {
    const parameter = query.last === undefined ? "before" : "last"
    return refuse(parameter, "either first and after, or last and before", "both pairs")
  }
  const sortBy = query.sortBy ?? (Object.keys(shape.sorts)[0] as Sort)
  const sortDir = query.sortDir ?? "asc"
  const filter = digest([
    scope.tenant.organizationId,
    scope.tenant.mode,
    query.search ?? "",
    sortedEntries({ ...scope.filter, archived: query.archived === true ? "true" : undefined })
  ])
  const binding: Binding = { list: shape.name, sortBy, sortDir, filter }
  const parameter = backward ? "before" : "after"
  const cursor = query[parameter]
  const sort = shape.sorts[sortBy]
  const types = {
    key: shape.second ? ([sort.type, shape.second.type] as const) : ([sort.type] as const),
    id: shape.id.type
  }
  const position =
    cursor === undefined
      ? Result.succeed(undefined)
      : Result.mapError(
          readCursor(secret, cursor, binding, types, now),
          (refused) => new PageRefused({ parameter, ...refused })
        )
  return Result.map(position, (position) => ({
    sort,
    id: shape.id,
    walk: (sortDir === "desc") === backward ? "asc" : "desc",
    backward,
    limit: query.first ?? query.last ?? pageSizeDefault,
    position,
    cursorAt: (row) => writeCursor(secret, binding, { key: row.sortKey, id: row.sortId }, now)
  }))
}

/** Returns the plan as SQL: columns to select, a condition, and the order with its limit. */
export const keyset = (sql: SqlClient, { sort, id, walk, limit, position }: Plan) => ({
  columns: sql.literal(`(${sort.expression})::text as "sortKey", (${id.expression})::text as "sortId"`),
  condition:
    position === undefined
      ? sql`true`
      : sql`(${sql.literal(sort.expression)}, ${sql.literal(id.expression)})
          ${sql.literal(walk === "asc" ? ">" : "<")}
          (${position.key}::text::${sql.literal(sort.type)}, ${position.id}::text::${sql.literal(id.type)})`,
  order: sql`order by ${sql.literal(`${sort.expression} ${walk}, ${id.expression} ${walk}`)} limit ${limit}`
})

/** Returns the rows of a plan as a page, in list order. */
export const page = <Row extends RowKey, A>(plan: Plan, rows: ReadonlyArray<Row>, toItem: (row: Row) => A): Page<A> => {
  const ordered = plan.backward ? rows.toReversed() : rows
  const first = ordered[0]
  const last = ordered.at(-1)
  return {
    data: ordered.map(toItem),
    pageInfo: {
      startCursor: first === undefined ? null : plan.cursorAt(first),
      endCursor: last === undefined ? null : plan.cursorAt(last)
    }
  }
}

/** True for archived rows `row` if the query requests them, otherwise for unarchived ones. */
export const archivedAsAsked = (
  sql: SqlClient,
  row: string,
  query: { readonly archived?: boolean | undefined }
): Fragment => sql.literal(query.archived === true ? `${row}.archived` : `not ${row}.archived`)

/** Returns a condition for each expression whose value the request gives. */
export const equal = (
  sql: SqlClient,
  values: { readonly [expression: string]: string | undefined }
): ReadonlyArray<Fragment> =>
  Object.entries(values).flatMap(([expression, value]) =>
    value === undefined ? [] : [sql`${sql.literal(expression)} = ${value}`]
  )

/** A period: its first and its last instant. One that is absent is open. */
export interface Period {
  readonly from?: Millis | undefined
  readonly until?: Millis | undefined
}

/** Returns the conditions that a time lies in a period. */
export const within = (sql: SqlClient, expression: string, { from, until }: Period): ReadonlyArray<Fragment> => [
  ...(from === undefined ? [] : [sql`${sql.literal(expression)} >= ${new Date(from)}`]),
  ...(until === undefined ? [] : [sql`${sql.literal(expression)} <= ${new Date(until)}`])
]

/** Returns a pattern for `like` that finds `search` anywhere. */
export const containing = (search: string): string => `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`

function refuse(parameter: string, expected: string, received: string): Result.Result<never, PageRefused> {
  return Result.fail(new PageRefused({ parameter, expected, received }))
}

function digest(parts: ReadonlyArray<unknown>): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22)
}

function sortedEntries(filter: Filter): ReadonlyArray<readonly [string, string | undefined]> {
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}
