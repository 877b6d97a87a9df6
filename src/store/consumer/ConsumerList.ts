/**
 * Pages of consumers. Most of many guests are `anonymous`: only the time of their visit is known. Anonymous guests are
 * in one index, by the time of their visit. A page consists of up to three parts: authenticated consumers, known
 * guests, and anonymous guests. Each part is read from an index that stores the rows of the page next to each other.
 * Anonymous guests sort as consumers without a value. Archived consumers are one part.
 *
 * The order is the sort field, then age, then the id. A cursor's key contains the first two.
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { type ConsumerType, consumerSorts } from "../../domain/consumer/Consumer.ts"
import { withUnicodeLabels } from "../../domain/values/HostName.ts"
import { isUuid, type Tenant } from "../../domain/values/Ids.ts"
import { archivedAsAsked, listShape, type Plan, type SortField } from "../records/Pagination.ts"
import * as Search from "../records/Search.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** The order of consumers with an equal sort field. */
export const byAge: SortField = { expression: "c.created_at", type: "timestamptz" }

/** The list of consumers. Consumers without a value come first. */
export const shape = listShape(
  "consumers",
  "c",
  consumerSorts,
  {
    createdAt: "timestamptz",
    email: { expression: "coalesce(c.email, '')", type: "text" },
    fullName: { expression: "coalesce(c.full_name, '')", type: "text" },
    lastOrderAt: { expression: "coalesce(c.last_order_at, '-infinity')", type: "timestamptz" },
    totalOrderValue: "numeric"
  },
  { second: byAge }
)

/** The lowest key of each sort, as in a cursor. All anonymous guests have it. */
const leastKeys: { readonly [expression: string]: string } = {
  [shape.sorts.email.expression]: "",
  [shape.sorts.fullName.expression]: "",
  [shape.sorts.lastOrderAt.expression]: "-infinity",
  [shape.sorts.totalOrderValue.expression]: "0.00000000"
}

/** The filters of a list of consumers. */
export interface Narrowing {
  readonly tenant: Tenant
  readonly type?: ConsumerType | undefined
  /** True: only archived consumers. Otherwise only unarchived ones. */
  readonly archived?: boolean | undefined
  /** Text in email, phone or full name, or a complete id or external id. */
  readonly search?: string | undefined
  /** A condition on a consumer `c`. */
  readonly condition?: Fragment
}

/** The statement that reads a page: every column of `consumers`, and `sortKey` and `sortId`. */
export const select = <Row extends object>(sql: SqlClient, plan: Plan, narrowing: Narrowing) => {
  const parts = partsOf(sql, plan, narrowing).map((part) => sql`(${part})`)
  const { fields } = walked(sql, plan)
  return sql<Row & { readonly sortKey: string; readonly sortId: string }>`
    select * from (${sql.join(" union all ", false)(parts)}) c
    order by ${Search.direction(sql, { order: fields, walk: plan.walk })} limit ${plan.limit}`
}

function partsOf(sql: SqlClient, plan: Plan, narrowing: Narrowing): ReadonlyArray<Fragment> {
  const { tenant, type, search, condition = sql`true` } = narrowing
  const types = (["authenticated", "guest"] as const).filter((each) => type === undefined || type === each)
  const known =
    narrowing.archived === true
      ? [sql`c.type = any(${types}::text[])`]
      : types.map((each) => sql`c.type = ${each} and not c.anonymous`)
  if (search !== undefined) {
    return [
      ...known.map((part) =>
        partOf(sql, plan, narrowing, sql`${part} and not c.anonymous and ${condition}`, {
          sought: containing(sql, tenant, search)
        })
      ),
      namedPartOf(sql, plan, narrowing, search, types)
    ]
  }
  const parts = known.map((part) => partOf(sql, plan, narrowing, sql`${part} and ${condition}`))
  if (narrowing.archived !== true && types.includes("guest"))
    parts.push(partOf(sql, plan, narrowing, sql`c.anonymous and ${condition}`, { isAnonymous: true }))
  return parts
}

/** Returns the consumers whose id or external id is the search text, except those whose text contains it. */
function namedPartOf(
  sql: SqlClient,
  plan: Plan,
  narrowing: Narrowing,
  search: string,
  types: ReadonlyArray<ConsumerType>
): Fragment {
  const { tenant, condition = sql`true` } = narrowing
  const byId = isUuid(search) ? sql`union all select ${search}::uuid` : sql``
  // They are found before they are sorted. In list order, the statement might read the whole list for them.
  const from = sql`(
    select * from consumers where id = any(array(
      select n.id from consumers n
      where ${ofTenant(sql, tenant, "n")}
        and ${archivedAsAsked(sql, "n", narrowing)} and n.external_id = ${search} ${byId})) offset 0) c`
  const isOther = sql`c.type = any(${types}::text[]) and not ${fitting(sql, search)}`
  return partOf(sql, plan, narrowing, sql`${isOther} and ${condition}`, { from })
}

/** Returns the known consumers whose text contains the search. The text is stored as it is compared. */
const containing = (sql: SqlClient, tenant: Tenant, search: string): Search.Sought =>
  Search.containingText(sql, { tenant, ...searched }, withUnicodeLabels(search), fitting(sql, search))

const fitting = (sql: SqlClient, search: string) => Search.contains(sql, searched.text, withUnicodeLabels(search))

/** `searched` is in the lower case of the locale, and `search_text` is what differs from it. */
const searched = { row: "c", text: "coalesce(c.search_text, c.searched)" }

/** The same search for a consumer `c` that is joined to another row, archived or not. */
export const named = (sql: SqlClient, tenant: Tenant, search: string | undefined): Search.Sought | undefined =>
  search === undefined ? undefined : amongNamed(sql, tenant, search, fitting(sql, search))

/** The same search, where `fits` is true only of some of the consumers `c` whose text contains the search. */
export const amongNamed = (sql: SqlClient, tenant: Tenant, search: string, fits: Fragment): Search.Sought => {
  const hasPieces = sql`not c.anonymous and ${Search.indexed(sql, { tenant, ...searched }, withUnicodeLabels(search))}`
  return { fits, ways: [sql`not c.archived`, sql`c.archived`].map((part) => sql`${part} and ${hasPieces} and ${fits}`) }
}

interface PartOptions {
  readonly isAnonymous?: boolean
  readonly from?: Fragment
  readonly sought?: Search.Sought
}

function partOf(
  sql: SqlClient,
  plan: Plan,
  narrowing: Narrowing,
  condition: Fragment,
  { isAnonymous = false, from = sql`consumers c`, sought }: PartOptions = {}
): Fragment {
  const { columns, fields, after, isBeyond } = walked(sql, plan, isAnonymous)
  return Search.query(sql, {
    columns: sql`c.*, ${columns}`,
    from,
    id: "c.id",
    where: sql`${ofTenant(sql, narrowing.tenant, "c")} and ${archivedAsAsked(sql, "c", narrowing)}
      and ${condition} and ${isBeyond}`,
    order: fields,
    after,
    walk: plan.walk,
    limit: plan.limit,
    sought
  })
}

/** Returns the plan as SQL. Anonymous guests differ only in age and id. */
function walked(sql: SqlClient, { sort, walk, position }: Plan, isAnonymous = false) {
  const isByAge = isAnonymous || sort.expression === shape.sorts.createdAt.expression
  const fields = isByAge ? ["c.created_at", "c.id"] : [sort.expression, "c.created_at", "c.id"]
  return {
    fields,
    columns: sql.literal(
      `json_build_array((${sort.expression})::text, c.created_at::text)::text as "sortKey", c.id::text as "sortId"`
    ),
    ...after()
  }

  /**
   * Returns the values of the row after which the page begins. If anonymous guests have another key, returns whether
   * they come after that row.
   */
  function after(): { readonly after?: ReadonlyArray<Fragment>; readonly isBeyond: Fragment } {
    if (position === undefined) return { isBeyond: sql`true` }
    const [value, createdAt] = decodeKey(position.key)
    const leastKey = leastKeys[sort.expression]
    if (isAnonymous && leastKey !== undefined && value !== leastKey) {
      return { isBeyond: walk === "asc" ? sql`false` : sql`true` }
    }
    const values = [sql`${createdAt}::text::timestamptz`, sql`${position.id}::text::uuid`]
    if (!isByAge) values.unshift(sql`${value}::text::${sql.literal(sort.type)}`)
    return { after: values, isBeyond: sql`true` }
  }
}

const decodeKey = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String])))
