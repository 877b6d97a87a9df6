/**
 * Search in lists: rows whose text contains the search text, without regard to case. Both are compared in the spelling
 * of `fold_case`, so the locale of the database changes nothing.
 *
 * A common text is found quickly by reading the rows in list order. For a rare text, an index on `search_pieces` of the
 * same expression finds the rows, which are then sorted. A statement cannot know in advance which case applies. So it
 * reads the first rows in list order. If these neither fill the page nor are all rows, it reads every row that the
 * index finds.
 *
 * Both ways return the same page: the first matching rows from its beginning. The cost of the index grows with the
 * matching rows. It is highest if very many rows match and hardly one of them is among the first rows.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment, Statement } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import { containing, keyset, type Plan, type RowKey, type SortField } from "./Pagination.ts"

/** The number of rows that are read one by one. Long pages read more. */
const nearRows = 1_500
const nearRowsPerItem = 40

/** The maximum of pieces that the index looks up. Each costs a lookup, and a few already leave few rows. */
const piecesAsked = 12

/** The conditions of a search. */
export interface Sought {
  /** True for a matching row. No index supports it. */
  readonly fits: Fragment
  /** Conditions that an index supports. For each matching row, exactly one of them is true. */
  readonly ways: ReadonlyArray<Fragment>
  /** The number of rows to read one by one, if not the default. More, where consecutive rows are stored together. */
  readonly nearRows?: number
  /** The tables for these conditions, if the list reads others. They return the same rows under the same names. */
  readonly from?: Fragment
}

/** A text in a tenant's rows. An index covers `search_pieces` of it. */
export interface Searched {
  readonly tenant: Tenant
  /** The alias of the row. */
  readonly row: string
  /** SQL, never null, in the spelling of `fold_case`. */
  readonly text: string
}

/** Returns the conditions of rows whose text contains `search`. */
export const containingText = (sql: SqlClient, searched: Searched, search: string, fits: Fragment): Sought => ({
  fits,
  ways: [sql`${indexed(sql, searched, search)} and ${fits}`]
})

/** Returns the conditions of rows whose text contains `search`. Undefined without a search. */
export const textSought = (sql: SqlClient, searched: Searched, search: string | undefined): Sought | undefined =>
  search === undefined ? undefined : containingText(sql, searched, search, contains(sql, searched.text, search))

/** True if a text in the spelling of `fold_case` contains `search`. The pattern is folded once, not for each row. */
export const contains = (sql: SqlClient, text: string, search: string): Fragment =>
  sql`(${sql.literal(text)}) like (select fold_case(${containing(search)}))`

/**
 * True for rows whose text has the pieces of the search text, by an index. So it is true for all rows that contain the
 * text. The pieces are adjacent, and the last one is the end of the text. Overlapping pieces would hardly exclude more
 * rows. A search that is folded to one character has no pieces.
 */
export const indexed = (sql: SqlClient, { tenant, row, text }: Searched, search: string): Fragment => sql`
  search_pieces(${sql.literal(`${row}.organization_id, ${row}.mode, ${text}`)}) @> array(
    select mark || substr(sought, greatest(1, least(start, length(sought) - 2)), 3)
    from (select lower(fold_case(${search})) as sought, ${markOf(tenant)}::text as mark) as marked,
      generate_series(1, length(sought), 3) as start
    where length(sought) > 1
    limit ${piecesAsked})`

/** Returns the prefix of a tenant's pieces, as in `search_pieces`: the end of its id and its mode's first letter. */
const markOf = ({ organizationId, mode }: Tenant): string => organizationId.slice(-8).toLowerCase() + mode.slice(0, 1)

export interface Listed {
  readonly columns: Fragment
  /** The table with its alias, and the joins for conditions and order. */
  readonly from: Fragment
  /** The joins for the columns alone, one row to each. */
  readonly beside?: Fragment | undefined
  /** The unique expression of a row. */
  readonly id: string
  /** The conditions, except the search and the beginning of the page. */
  readonly where: Fragment
  /** Expressions that make a total order. */
  readonly order: ReadonlyArray<string>
  /** Their values in the row after which the page begins. Absent: the page begins at an end of the list. */
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
  // The beginning of the page is checked outside, and nothing is sorted inside. Otherwise the planner may read in
  // list order here too, through all rows before the few that match.
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
  // A reader of `looked` reads only the rows that it needs. A condition on an earlier step can skip a later step.
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

/** The list that a plan reads. */
export interface Planned extends Pick<Listed, "from" | "beside" | "where" | "sought"> {
  /** The list's own columns. */
  readonly fields: Fragment
}

/** Returns the statement that reads the page of a plan. */
export const rows = <Row>(sql: SqlClient, plan: Plan, planned: Planned): Statement<Row & RowKey> =>
  sql<Row & RowKey>`${queryOf(sql, plan, planned)}`

/** Returns the same statement as a fragment. */
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

/** True for rows after the one after which the page begins. `fields` are the expressions of the order. */
const beyond = (sql: SqlClient, { after, walk }: Listed, fields: ReadonlyArray<string>): Fragment =>
  after === undefined
    ? sql`true`
    : sql`(${sql.literal(fields.join(", "))}) ${sql.literal(walk === "asc" ? ">" : "<")} (${sql.join(", ", false)(after)})`

export const direction = (sql: SqlClient, { order, walk }: Pick<Listed, "order" | "walk">): Fragment =>
  sql.literal(order.map((field) => `${field} ${walk}`).join(", "))
