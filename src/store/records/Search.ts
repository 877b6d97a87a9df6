/**
 * Search in lists (interface document 8.3): rows whose text contains what is looked for, upper and lower case alike.
 *
 * What is common is met soon by looking at one row after the other, in the list's order. What is rare is found by an index
 * over `search_pieces` of the very same text, and put in order. Which it is, nobody knows beforehand; so the first rows in
 * order are looked at, and if they neither fill the page nor are all there are, everything that the index finds.
 *
 * Whichever settles it, the page is exactly the first rows that fit, from where it begins on. The index costs more the more
 * rows fit: most where very many do, and hardly one of them is among the first.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment, Statement } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import { containing, keyset, type Plan, type RowKey, type SortField } from "./Pagination.ts"

/** Rows that are looked at one by one: so many, and more for long pages. */
const nearRows = 1_500
const nearRowsPerItem = 40

/** Pieces of what is looked for that the index is asked for; a few leave few rows, and each costs a look. */
const piecesAsked = 12

/** What is searched for. */
export interface Sought {
  /** True of a row that fits, without the help of an index. */
  readonly fits: Fragment
  /** Conditions that an index answers, each; of a row that fits exactly one is true. */
  readonly ways: ReadonlyArray<Fragment>
  /** Rows to look at one by one; absent: as many as usual. More, where rows that follow each other lie side by side. */
  readonly nearRows?: number
  /** What these are asked of, where it is not what the list is read from, row by row: the same rows by the same names. */
  readonly from?: Fragment
}

/** A text of a tenant's rows that an index over `search_pieces` is over. */
export interface Searched {
  readonly tenant: Tenant
  /** What the row is called. */
  readonly row: string
  /** SQL, never null. */
  readonly text: string
}

/** Rows that fit because their text contains `search`. */
export const containingText = (sql: SqlClient, searched: Searched, search: string, fits: Fragment): Sought => ({
  fits,
  ways: [sql`${indexed(sql, searched, search)} and ${fits}`]
})

/** Rows whose text contains what is searched for, if anything is. */
export const textSought = (sql: SqlClient, searched: Searched, search: string | undefined): Sought | undefined =>
  search === undefined
    ? undefined
    : containingText(sql, searched, search, sql`(${sql.literal(searched.text)}) ilike ${containing(search)}`)

/**
 * True for rows whose text has the pieces of what is looked for, by an index; so it is of all that contain it. Its pieces
 * side by side, the last one its end: those between are in hardly fewer rows.
 */
export const indexed = (sql: SqlClient, { tenant, row, text }: Searched, search: string): Fragment => sql`
  search_pieces(${sql.literal(`${row}.organization_id, ${row}.mode, ${text}`)}) @> array(
    select mark || substr(sought, greatest(1, least(start, length(sought) - 2)), 3)
    from (select lower(${search}) as sought, ${markOf(tenant)}::text as mark) as marked,
      generate_series(1, length(sought), 3) as start
    limit ${piecesAsked})`

/** What the pieces of a tenant's texts begin with, as `search_pieces` has it: the end of its id and the first letter of its mode. */
const markOf = ({ organizationId, mode }: Tenant): string => organizationId.slice(-8).toLowerCase() + mode.slice(0, 1)

/** The rows of a list. */
export interface Listed {
  readonly columns: Fragment
  /** The table with its alias, and what is joined to it for conditions and order. */
  readonly from: Fragment
  /** What is joined to it for the columns alone, one row to each. */
  readonly beside?: Fragment | undefined
  /** What tells rows apart. */
  readonly id: string
  /** Conditions, but for what is searched and where the page begins. */
  readonly where: Fragment
  /** Expressions that make a total order. */
  readonly order: ReadonlyArray<string>
  /** Their values in the row that the page begins after; absent: it begins at an end of the list. */
  readonly after?: ReadonlyArray<Fragment> | undefined
  readonly walk: Plan["walk"]
  readonly limit: number
  /** Absent: all of them. */
  readonly sought?: Sought | undefined
}

/** The query for one page of a list. */
export const query = (sql: SqlClient, listed: Listed): Fragment => {
  const { columns, from, beside = sql``, where, sought, limit } = listed
  const order = sql`order by ${direction(sql, listed)} limit ${limit}`
  const begun = sql`${where} and ${beyond(sql, listed, listed.order)}`
  if (sought === undefined) return sql`select ${columns} from ${from} ${beside} where ${begun} ${order}`
  const id = sql.literal(listed.id)
  const keys = listed.order.map((_, index) => `key${index}`)
  const near = Math.max(sought.nearRows ?? nearRows, limit * nearRowsPerItem)
  // Where the page begins is looked at afterwards, and nothing is put in order inside: else the planner may go by order here
  // too, through all that come before the few that fit.
  const found = sql.join(
    " union all ",
    false
  )(
    sought.ways.map(
      (way) => sql`
        select * from (
          select ${id} as id, ${sql.literal(listed.order.map((field, index) => `${field} as ${keys[index]}`).join(", "))}
          from ${sought.from ?? from} where ${way} and ${where} and not (select it from near_settles) offset 0
        ) as found where ${beyond(sql, listed, keys)}`
    )
  )
  // What reads `looked` takes as many of its rows as it needs; a condition on a step before keeps a step from being taken.
  return sql`
    with looked as materialized (
      select ${id} as id, ${sought.fits} as fits from ${from} where ${begun}
      order by ${direction(sql, listed)} limit ${near}
    ), near as materialized (
      select id from looked where fits limit ${limit}
    ), near_settles as materialized (
      select (select count(*) from near) >= ${limit} or (select count(*) from looked) < ${near} as it
    ), chosen as (
      (select id from near where (select it from near_settles))
      union all
      (
        select id from (${found}) as found
        order by ${direction(sql, { order: keys, walk: listed.walk })} limit ${limit}
      )
    )
    select ${columns} from ${from} ${beside} where ${id} = any(array(select id from chosen)) and ${where} ${order}`
}

/** A list of which a plan asks for a page. */
export interface Planned extends Pick<Listed, "from" | "beside" | "where" | "sought"> {
  /** The list's own columns. */
  readonly fields: Fragment
}

/** The rows of a page as a plan asks for them. */
export const rows = <Row>(sql: SqlClient, plan: Plan, planned: Planned): Statement<Row & RowKey> =>
  sql<Row & RowKey>`${queryOf(sql, plan, planned)}`

/** The query for them. */
export const queryOf = (sql: SqlClient, plan: Plan, { fields, where, ...listed }: Planned): Fragment => {
  const { sort, id, walk, limit, position } = plan
  const value = (text: string, { type }: SortField) => sql`${text}::text::${sql.literal(type)}`
  return query(sql, {
    ...listed,
    columns: sql`${fields}, ${keyset(sql, plan).columns}`,
    id: id.expression,
    where,
    order: [sort.expression, id.expression],
    after: position && [value(position.key, sort), value(position.id, id)],
    walk,
    limit
  })
}

/** True of rows that come after the one that the page begins after; `fields` are what the order is called there. */
const beyond = (sql: SqlClient, { after, walk }: Listed, fields: ReadonlyArray<string>): Fragment =>
  after === undefined
    ? sql`true`
    : sql`(${sql.literal(fields.join(", "))}) ${sql.literal(walk === "asc" ? ">" : "<")} (${sql.join(", ", false)(after)})`

/** The order as SQL. */
export const direction = (sql: SqlClient, { order, walk }: Pick<Listed, "order" | "walk">): Fragment =>
  sql.literal(order.map((field) => `${field} ${walk}`).join(", "))
