/**
 * The rules of an audience as SQL for a consumer `c`. Column expressions come from the list below. Every value of a
 * rule is a parameter. Email and full name are compared without regard to case (`fold_case`), an email in its one
 * spelling, and all other fields exactly, in NFC. An unknown value equals no value, differs from every value, and has no
 * order.
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
import { normalizedEmail } from "../../domain/values/Email.ts"
import { withUnicodeLabels } from "../../domain/values/HostName.ts"
import { instantOf, toText } from "../../domain/values/Time.ts"

const columns: { readonly [field: string]: { readonly expression: string; readonly isFolded?: boolean } } = {
  type: { expression: "c.type" },
  email: { expression: "fold_case(c.email)", isFolded: true },
  phone: { expression: "c.phone" },
  fullName: { expression: "fold_case(c.full_name)", isFolded: true },
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
  const sqlType = sql.literal(sqlTypes[type])
  const valueOf = (item: unknown) => {
    const text = type === "date_time" ? instantText(`${item}`) : spelling(field, `${item}`)
    return column.isFolded === true ? sql`(select fold_case(${text}))` : sql`${text}::text::${sqlType}`
  }
  if (op !== "in") return compared(sql, expression, op, valueOf(value))
  const values = (value as ReadonlyArray<unknown>).map(valueOf)
  return sql`${expression} in (${sql.join(", ", false)(values)})`
}

/** Returns the spelling of a value in which the field is stored. A value may be a part of an email. */
const spelling = (field: string, value: string): string =>
  field === "email" ? (normalizedEmail(value) ?? withUnicodeLabels(value)) : value.normalize("NFC")
/** A rule keeps the text that it was sent with. The database does not read all of its forms. */
const instantText = (text: string): string => {
  const at = instantOf(text)
  return at === undefined ? text : toText(at)
}

function ofAttribute(sql: SqlClient, key: string, { op, value }: Rule): Fragment {
  const attribute = sql`(c.attributes -> ${key}::text)`
  const asText = sql`normalize(c.attributes ->> ${key}::text, nfc)`
  const isA = (type: string) => sql`jsonb_typeof(${attribute}) = ${type}`
  // JSON of text in NFC, so that text and other values are compared in one way.
  const asJson = sql`case when ${isA("string")} then to_jsonb(${asText}) else ${attribute} end`
  const jsonOf = (item: unknown) => JSON.stringify(item).normalize("NFC")
  switch (op) {
    case "exists":
      return value === true ? sql`${asText} is not null` : sql`${asText} is null`
    case "eq":
    case "ne":
      return compared(sql, asJson, op, sql`${jsonOf(value)}::text::jsonb`)
    case "in":
      return sql`${asJson} = any(${(value as ReadonlyArray<unknown>).map(jsonOf)}::text[]::jsonb[])`
    case "contains":
    case "startsWith":
    case "endsWith":
      return sql`(${isA("string")} and ${compared(sql, asText, op, sql`${`${value}`.normalize("NFC")}::text`)})`
    default: {
      // SQL does not define the evaluation order of AND. It defines the order of CASE.
      const number = sql`case when ${isA("number")} then (c.attributes ->> ${key}::text)::numeric end`
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
