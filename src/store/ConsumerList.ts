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

/** The statement that reads a page: every column of `consumers`, `sortKey` and `sortId`. */
export const select = <Row extends object>(sql: SqlClient, plan: Plan, narrowing: Narrowing) => {
  const parts = partsOf(sql, narrowing).map((part) => sql`(${partOf(sql, plan, narrowing, part)})`)
  const { order } = walked(sql, plan)
  return sql<Row & { readonly sortKey: string; readonly sortId: string }>`
    select * from (${sql.join(" union all ", false)(parts)}) c ${order}`
}

/** The consumers of a part, and what is known of them there. */
interface Part {
  readonly condition: Fragment
  readonly isAnonymous?: boolean
}

function partsOf(sql: SqlClient, { type, search }: Narrowing): ReadonlyArray<Part> {
  const types = (["authenticated", "guest"] as const).filter((each) => type === undefined || type === each)
  if (search === undefined) {
    const known = types.map((each) => ({ condition: sql`c.type = ${each} and not c.anonymous` }))
    const anonymous = { condition: sql`c.anonymous`, isAnonymous: true }
    return types.includes("guest") ? [...known, anonymous] : known
  }
  const matching = found(sql, searched, search)
  const known = types.map((each) => ({ condition: sql`c.type = ${each} and not c.anonymous and ${matching}` }))
  const isNamed = isUuid(search)
    ? sql`(c.external_id = ${search} or c.id = ${search}::uuid)`
    : sql`c.external_id = ${search}`
  // Whom the search names and finds as well is there already.
  const named = sql`${isNamed} and c.type = any(${types}::text[]) and not ${sql.literal(`(${searched})`)} ilike ${containing(search)}`
  return [...known, { condition: named }]
}

function partOf(sql: SqlClient, plan: Plan, { tenant, condition = sql`true` }: Narrowing, part: Part): Fragment {
  const { columns, order, after } = walked(sql, plan, part.isAnonymous)
  return sql`
    select c.*, ${columns} from consumers c
    where c.organization_id = ${tenant.organizationId} and c.mode = ${tenant.mode} and not c.archived
      and ${part.condition} and ${condition} and ${after} ${order}`
}

/** The plan as SQL. Anonymous guests differ by age and id alone. */
function walked(sql: SqlClient, { sort, walk, limit, position }: Plan, isAnonymous = false) {
  const isByAge = isAnonymous || sort.expression === shape.sorts.createdAt.expression
  const fields = isByAge ? ["c.created_at", "c.id"] : [sort.expression, "c.created_at", "c.id"]
  return {
    columns: sql.literal(
      `json_build_array((${sort.expression})::text, c.created_at::text)::text as "sortKey", c.id::text as "sortId"`
    ),
    after: position === undefined ? sql`true` : after(position),
    order: sql`order by ${sql.literal(fields.map((field) => `${field} ${walk}`).join(", "))} limit ${limit}`
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
