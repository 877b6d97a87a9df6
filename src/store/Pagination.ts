/**
 * Pages of a list (interface document 2.11 and 8.3; completions 4).
 *
 * A page is found by its key, never by counting rows: the order is the sort field and then the id, which makes it
 * total, so that no row is skipped or shown twice whatever is inserted in between. A cursor names a row of one list,
 * under one sort and one filter, for one tenant, and serves for 24 hours; every answer carries fresh ones. Its digest
 * tells a damaged cursor from a good one; it protects nothing, because a cursor gives access to nothing.
 */
import { createHash } from "node:crypto"
import { Result, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Tenant } from "../domain/Ids.ts"
import type { Millis } from "../domain/Time.ts"

export const pageSizeDefault = 20
export const pageSizeMax = 100
export const searchLengthMin = 2
/** How long a cursor serves after it was given out. */
export const cursorLifetimeMillis = 24 * 60 * 60 * 1_000

/** What rows are ordered by: a constant SQL expression that is never null, and its type. */
export interface SortField {
  readonly expression: string
  readonly type: "timestamptz" | "text" | "bigint" | "numeric" | "uuid"
}

/** A list, its sort fields by their public names (the first is the default), and the unique field that breaks ties. */
export interface ListShape<Sort extends string> {
  readonly name: string
  readonly sorts: { readonly [S in Sort]: SortField }
  readonly id: SortField
}

/** The parameters of a list request, each already of the right type and in range. */
export interface PageQuery<Sort extends string> {
  readonly first?: number | undefined
  readonly after?: string | undefined
  readonly last?: number | undefined
  readonly before?: string | undefined
  readonly sortBy?: Sort | undefined
  readonly sortDir?: "asc" | "desc" | undefined
  readonly search?: string | undefined
}

/** What a list is narrowed to besides `search`. */
export interface Filter {
  readonly [name: string]: string | undefined
}

/** The parameters do not make a page. 400, naming the parameter. */
export class PageRefused extends Schema.TaggedError<PageRefused>()("PageRefused", {
  parameter: Schema.String,
  expected: Schema.String,
  received: Schema.String
}) {}

/** A page that has been asked for. */
export interface Plan {
  readonly sort: SortField
  readonly id: SortField
  /** How SQL walks: the sort direction, turned round for a page that ends at a cursor. */
  readonly walk: "asc" | "desc"
  readonly backward: boolean
  readonly limit: number
  /** The row to start after; undefined for an end of the list. */
  readonly position: { readonly key: string; readonly id: string } | undefined
  readonly cursorAt: (row: RowKey) => string
}

/** The columns {@link keyset} adds to each row. */
export interface RowKey {
  readonly sortKey: string
  readonly sortId: string
}

/** One page and its cursors (interface document 2.11). */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null }
}

/** Reads the parameters of a request into a plan for one page. */
export const plan = <Sort extends string>(
  shape: ListShape<Sort>,
  query: PageQuery<Sort>,
  scope: { readonly tenant: Tenant; readonly filter: Filter },
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
    sortedEntries(scope.filter)
  ])
  const binding: Binding = { list: shape.name, sortBy, sortDir, filter }
  const parameter = backward ? "before" : "after"
  const cursor = query[parameter]
  const position = cursor === undefined ? Result.succeed(undefined) : readCursor(parameter, cursor, binding, now)
  return Result.map(position, (position) => ({
    sort: shape.sorts[sortBy],
    id: shape.id,
    walk: (sortDir === "desc") === backward ? "asc" : "desc",
    backward,
    limit: query.first ?? query.last ?? pageSizeDefault,
    position,
    cursorAt: (row) => writeCursor({ ...binding, key: row.sortKey, id: row.sortId, issuedAt: now })
  }))
}

/** The plan as SQL: columns to select, a condition, and the order with its limit. */
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

/** The rows a plan found as a page, in list order whichever way they were walked. */
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

/** A pattern for `ilike` that finds `search` anywhere. */
export const containing = (search: string): string => `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`

interface Binding {
  readonly list: string
  readonly sortBy: string
  readonly sortDir: string
  /** Digest of the tenant and of every filter. */
  readonly filter: string
}

const Cursor = Schema.Struct({
  list: Schema.String,
  sortBy: Schema.String,
  sortDir: Schema.String,
  filter: Schema.String,
  key: Schema.String,
  id: Schema.String,
  issuedAt: Schema.Finite,
  check: Schema.String
})
const decodeCursor = Schema.decodeUnknownResult(Schema.fromJsonString(Cursor))

type Content = Omit<typeof Cursor.Type, "check">

/**
 * Plain Base64 that needs no escaping in a URL: the JSON is kept to characters that never encode to `+` or `/`, and
 * padded with blanks, so that no `=` is needed.
 */
function writeCursor(content: Content): string {
  const json = JSON.stringify({ ...content, check: checkOf(content) }).replaceAll(
    /[^ -=@-}]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
  return Buffer.from(json.padEnd(Math.ceil(json.length / 3) * 3), "latin1").toString("base64")
}

function readCursor(
  parameter: string,
  text: string,
  binding: Binding,
  now: Millis
): Result.Result<Content, PageRefused> {
  const decoded = decodeCursor(Buffer.from(text, "base64").toString("utf8"))
  if (Result.isFailure(decoded)) return refuse(parameter, "a cursor of this list", "a malformed cursor")
  const { check, ...content } = decoded.success
  if (check !== checkOf(content)) return refuse(parameter, "a cursor of this list", "a damaged cursor")
  if (content.list !== binding.list) return refuse(parameter, "a cursor of this list", "a cursor of another list")
  if (content.sortBy !== binding.sortBy || content.sortDir !== binding.sortDir) {
    return refuse(parameter, "a cursor of this sort order", "a cursor of another sort order")
  }
  if (content.filter !== binding.filter) {
    return refuse(parameter, "a cursor of these filters", "a cursor of other filters")
  }
  if (now - content.issuedAt > cursorLifetimeMillis) {
    return refuse(parameter, "a cursor used within 24 hours", "an expired cursor")
  }
  return Result.succeed(content)
}

function refuse(parameter: string, expected: string, received: string): Result.Result<never, PageRefused> {
  return Result.fail(new PageRefused({ parameter, expected, received }))
}

function checkOf({ list, sortBy, sortDir, filter, key, id, issuedAt }: Content): string {
  return digest([list, sortBy, sortDir, filter, key, id, issuedAt])
}

function digest(parts: ReadonlyArray<unknown>): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22)
}

function sortedEntries(filter: Filter): ReadonlyArray<readonly [string, string | undefined]> {
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}
