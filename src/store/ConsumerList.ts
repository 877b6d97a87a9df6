/**
 * Pages of consumers. Of most guests nothing is known but when they came, and there may be very many: these `anonymous`
 * ones are in one index alone, in the order they came. A page is put together from up to three parts, each read from an
 * index that has the page's rows side by side: authenticated consumers and guests of whom something is known, in the order
 * asked for, and anonymous guests, which stand where consumers without a value do.
 *
 * The order is the sort field, then age, then the id. A cursor's key holds the first two.
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { ConsumerType } from "../domain/Consumer.ts"
import { isUuid, type Tenant } from "../domain/Ids.ts"
import { containing, type ListShape, type Plan } from "./Pagination.ts"
import { found } from "./Search.ts"

/** The list of consumers (interface document 8.3). Those whose field is not known come first. */
export const shape = {
  name: "consumers",
  sorts: {
    createdAt: { expression: "c.created_at", type: "timestamptz" },
    email: { expression: "coalesce(c.email, '')", type: "text" },
    fullName: { expression: "coalesce(c.full_name, '')", type: "text" },
    lastOrderAt: { expression: "coalesce(c.last_order_at, '-infinity')", type: "timestamptz" },
    totalOrderValue: { expression: "c.total_order_value", type: "numeric" }
  },
  id: { expression: "c.id", type: "uuid" }
} as const satisfies ListShape<string>

/** The least key of each sort, as a cursor has it: that of all anonymous guests. */
const leastKeys: { readonly [expression: string]: string } = {
  [shape.sorts.email.expression]: "",
  [shape.sorts.fullName.expression]: "",
  [shape.sorts.lastOrderAt.expression]: "-infinity",
  [shape.sorts.totalOrderValue.expression]: "0.00000000"
}

/** What can be searched; the index `consumers_search` has the very same text. */
const searched = "coalesce(c.email, '') || ' ' || coalesce(c.phone, '') || ' ' || coalesce(c.full_name, '')"

/** What a list of consumers is narrowed to. */
export interface Narrowing {
  readonly tenant: Tenant
  readonly type?: ConsumerType | undefined
  /** Text in email, phone or full name, or a whole id or external id. */
  readonly search?: string | undefined
  /** Of a consumer `c`. */
  readonly condition?: Fragment
}

/** Consumers of a part that a search looks at one by one, at least: some milliseconds. */
const lookedAtMin = 5_000

/** The same for each row of the page. */
const lookedAtPerRow = 100

/** The statement that reads a page: every column of `consumers`, `sortKey` and `sortId`. */
export const select = <Row extends object>(sql: SqlClient, plan: Plan, narrowing: Narrowing) => {
  const parts = partsOf(sql, plan, narrowing).map((part) => sql`(${part})`)
  const { order } = walked(sql, plan)
  return sql<Row & { readonly sortKey: string; readonly sortId: string }>`
    select * from (${sql.join(" union all ", false)(parts)}) c ${order}`
}

function partsOf(sql: SqlClient, plan: Plan, narrowing: Narrowing): ReadonlyArray<Fragment> {
  const { type, search, condition = sql`true` } = narrowing
  const types = (["authenticated", "guest"] as const).filter((each) => type === undefined || type === each)
  const known = types.map((each) => sql`c.type = ${each} and not c.anonymous`)
  if (search !== undefined) {
    const named = namedOf(sql, search, types)
    return [
      ...known.map((part) => searchedPartOf(sql, plan, narrowing, part, search)),
      partOf(sql, plan, narrowing, sql`${named} and ${condition}`)
    ]
  }
  const parts = known.map((part) => partOf(sql, plan, narrowing, sql`${part} and ${condition}`))
  if (types.includes("guest")) parts.push(partOf(sql, plan, narrowing, sql`c.anonymous and ${condition}`, true))
  return parts
}

/** Whom the search names, unless it finds them as well. */
function namedOf(sql: SqlClient, search: string, types: ReadonlyArray<ConsumerType>): Fragment {
  const isNamed = isUuid(search)
    ? sql`(c.external_id = ${search} or c.id = ${search}::uuid)`
    : sql`c.external_id = ${search}`
  return sql`${isNamed} and c.type = any(${types}::text[]) and not ${looksLike(sql, search)}`
}

/** True for consumers whose text contains the search, without the help of an index. */
const looksLike = (sql: SqlClient, search: string) => sql`(${sql.literal(searched)}) ilike ${containing(search)}`

function partOf(sql: SqlClient, plan: Plan, narrowing: Narrowing, condition: Fragment, isAnonymous = false): Fragment {
  const { columns, order, after } = walked(sql, plan, isAnonymous)
  return sql`
    select c.*, ${columns} from consumers c
    where ${ofTenant(sql, narrowing)} and ${condition} and ${after} ${order}`
}

/**
 * What is common is met soon by looking at one consumer after the other, in order; what is rare is found by the index and
 * put in order. Only where so many have been looked at in vain is the index asked.
 */
function searchedPartOf(sql: SqlClient, plan: Plan, narrowing: Narrowing, part: Fragment, search: string): Fragment {
  const { condition = sql`true` } = narrowing
  const { after, direction } = walked(sql, plan)
  const lookedAt = Math.max(lookedAtMin, plan.limit * lookedAtPerRow)
  return sql`
    with looked as materialized (
      select c.id, ${looksLike(sql, search)} and ${condition} as fits, row_number() over (order by ${direction}) as nr
      from consumers c where ${ofTenant(sql, narrowing)} and ${part} and ${after}
      order by ${direction} limit ${lookedAt}
    ), met as materialized (
      select id from looked where fits order by nr limit ${plan.limit}
    ), enough as materialized (
      select (select count(*) from met) >= ${plan.limit} or (select count(*) from looked) < ${lookedAt} as is_so
    )
    (${partOf(sql, plan, narrowing, sql`c.id = any(array(select id from met)) and (select is_so from enough)`)})
    union all
    (select * from (
      ${partOf(sql, plan, narrowing, sql`${part} and ${found(sql, searched, search)} and ${condition}`)}
    ) indexed where not (select is_so from enough))`
}

const ofTenant = (sql: SqlClient, { tenant }: Narrowing) =>
  sql`c.organization_id = ${tenant.organizationId} and c.mode = ${tenant.mode} and not c.archived`

/** The plan as SQL. Anonymous guests differ by age and id alone. */
function walked(sql: SqlClient, { sort, walk, limit, position }: Plan, isAnonymous = false) {
  const isByAge = isAnonymous || sort.expression === shape.sorts.createdAt.expression
  const fields = isByAge ? ["c.created_at", "c.id"] : [sort.expression, "c.created_at", "c.id"]
  const direction = sql.literal(fields.map((field) => `${field} ${walk}`).join(", "))
  return {
    direction,
    columns: sql.literal(
      `json_build_array((${sort.expression})::text, c.created_at::text)::text as "sortKey", c.id::text as "sortId"`
    ),
    after: position === undefined ? sql`true` : after(position),
    order: sql`order by ${direction} limit ${limit}`
  }

  function after({ key, id }: { readonly key: string; readonly id: string }): Fragment {
    const [value, createdAt] = decodeKey(key)
    const leastKey = leastKeys[sort.expression]
    // Where the cursor's row has a value, all anonymous guests are on one side of it.
    if (isAnonymous && leastKey !== undefined && value !== leastKey) return walk === "asc" ? sql`false` : sql`true`
    const values = [sql`${createdAt}::text::timestamptz`, sql`${id}::text::uuid`]
    if (!isByAge) values.unshift(sql`${value}::text::${sql.literal(sort.type)}`)
    return sql`(${sql.literal(fields.join(", "))}) ${sql.literal(walk === "asc" ? ">" : "<")} (${sql.join(", ", false)(values)})`
  }
}

const decodeKey = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String])))
