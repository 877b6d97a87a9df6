/**
 * The rules of an audience as SQL for a consumer `c`. Column expressions come from the list below. Every value of a
 * rule is a parameter. Email, phone and full name are compared case-insensitively, all other fields exactly. An unknown
 * value equals no value, differs from every value, and has no order.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import {
  attributeOf,
  type AudienceRules,
  type FieldType,
  type Op,
  type Rule,
  typeOf
} from "../../domain/consumer/AudienceRules.ts"
import { instantOf, toText } from "../../domain/values/Time.ts"

/** The column of each field. */
const columns: { readonly [field: string]: { readonly expression: string; readonly ignoresCase?: boolean } } = {
  type: { expression: "c.type" },
  email: { expression: "lower(c.email)", ignoresCase: true },
  phone: { expression: "c.phone" },
  fullName: { expression: "lower(c.full_name)", ignoresCase: true },
  externalId: { expression: "c.external_id" },
  createdAt: { expression: "c.created_at" },
  lastOrderAt: { expression: "c.last_order_at" },
  loyaltyBalance: { expression: "c.loyalty_balance" },
  totalOrderValue: { expression: "c.total_order_value" },
  orderCount: { expression: "c.order_count" }
}

const sqlTypes: { readonly [T in Exclude<FieldType, "attribute">]: string } = {
  picklist: "text",
  text: "text",
  integer: "bigint",
  amount: "numeric",
  date_time: "timestamptz"
}

const comparisons: { readonly [O in Op]?: string } = {
  eq: "=",
  ne: "is distinct from",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<="
}

/** Returns a condition that is true of a consumer `c` that matches the rules. */
export const fits = (sql: SqlClient, { match, rules }: AudienceRules): Fragment => {
  const conditions = rules.map((rule) => conditionOf(sql, rule))
  return match === "all" ? sql.and(conditions) : sql.or(conditions)
}

function conditionOf(sql: SqlClient, rule: Rule): Fragment {
  const key = attributeOf(rule.field)
  return key === undefined ? ofColumn(sql, rule) : ofAttribute(sql, key, rule)
}

function ofColumn(sql: SqlClient, { field, op, value }: Rule): Fragment {
  const type = typeOf(field)
  const column = columns[field]
  // Stored rules were validated, but possibly by an earlier version.
  if (column === undefined || type === undefined || type === "attribute") return sql`false`
  const expression = sql.literal(column.expression)
  if (op === "exists") return value === true ? sql`${expression} is not null` : sql`${expression} is null`
  const cased = (text: Fragment) => (column.ignoresCase === true ? sql`lower(${text})` : text)
  const sqlType = sql.literal(sqlTypes[type])
  const valueOf = (item: unknown) =>
    cased(sql`${type === "date_time" ? instantText(`${item}`) : `${item}`}::text::${sqlType}`)
  if (op !== "in") return compared(sql, expression, op, valueOf(value))
  const values = (value as ReadonlyArray<unknown>).map(valueOf)
  return sql`${expression} in (${sql.join(", ", false)(values)})`
}

/** A rule keeps the text that it was sent with. The database does not read all of its forms. */
const instantText = (text: string): string => {
  const at = instantOf(text)
  return at === undefined ? text : toText(at)
}

function ofAttribute(sql: SqlClient, key: string, { op, value }: Rule): Fragment {
  const attribute = sql`(c.attributes -> ${key}::text)`
  const asText = sql`(c.attributes ->> ${key}::text)`
  const isA = (type: string) => sql`jsonb_typeof(${attribute}) = ${type}`
  switch (op) {
    case "exists":
      return value === true ? sql`${asText} is not null` : sql`${asText} is null`
    case "eq":
    case "ne":
      return compared(sql, attribute, op, sql`${JSON.stringify(value)}::text::jsonb`)
    case "in":
      return sql`${attribute} = any(${(value as ReadonlyArray<unknown>).map((item) => JSON.stringify(item))}::text[]::jsonb[])`
    case "contains":
    case "startsWith":
    case "endsWith":
      return sql`(${isA("string")} and ${compared(sql, asText, op, sql`${value as string}::text`)})`
    default: {
      // SQL does not define the evaluation order of AND. It defines the order of CASE.
      const number = sql`case when ${isA("number")} then ${asText}::numeric end`
      return sql`(${compared(sql, number, op, sql`${`${value}`}::text::numeric`)})`
    }
  }
}

function compared(sql: SqlClient, expression: Fragment, op: Op, value: Fragment): Fragment {
  switch (op) {
    case "contains":
      return sql`position(${value} in ${expression}) > 0`
    case "startsWith":
      return sql`starts_with(${expression}, ${value})`
    case "endsWith":
      return sql`right(${expression}, length(${value})) = ${value}`
    default:
      return sql`${expression} ${sql.literal(comparisons[op] ?? "=")} ${value}`
  }
}
