/**
 * Rules that select the members of a DYNAMIC audience from the fields of consumers. All rules or any rule must hold.
 * The type of a field determines its operators and their values.
 */
import { Schema } from "effect"
import { Amount } from "../values/Amount.ts"
import { text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** Limit of rules per audience. */
export const rulesMax = 20

/** Limit of values per rule. */
export const ruleValuesMax = 100

const attributePrefix = "attributes."

/** The type of a field's values. */
export type FieldType = "picklist" | "text" | "integer" | "amount" | "date_time" | "attribute"

const fieldTypes: { readonly [field: string]: FieldType } = {
  type: "picklist",
  email: "text",
  phone: "text",
  fullName: "text",
  externalId: "text",
  createdAt: "date_time",
  lastOrderAt: "date_time",
  loyaltyBalance: "amount",
  totalOrderValue: "amount",
  orderCount: "integer"
}

export const ops = ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "startsWith", "endsWith", "exists", "in"] as const
export type Op = (typeof ops)[number]

const ordered: ReadonlyArray<Op> = ["eq", "ne", "gt", "gte", "lt", "lte", "in"]

const opsOf: { readonly [T in FieldType]: ReadonlyArray<Op> } = {
  picklist: ["eq", "ne", "in"],
  text: ["eq", "ne", "contains", "startsWith", "endsWith", "exists", "in"],
  integer: ordered,
  amount: ordered,
  date_time: [...ordered, "exists"],
  attribute: ops
}

const shortText = text({ minLength: 1, maxLength: 200 })
const wholeNumber = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))
const partOps: ReadonlySet<Op> = new Set(["contains", "startsWith", "endsWith"])
const rankOps: ReadonlySet<Op> = new Set(["gt", "gte", "lt", "lte"])

/** The schema of a value, with the type and the expectation to report. */
interface Fitting {
  readonly schema: Schema.Constraint
  readonly type: string
  readonly expected: string
}

const texts: Fitting = { schema: shortText, type: "string", expected: "text of 1 to 200 characters" }
const numbers: Fitting = { schema: Schema.Finite, type: "number", expected: "a number" }

/** The schema of the values that each type of field can be compared with. */
const valuesOf: { readonly [T in FieldType]: Fitting } = {
  picklist: {
    schema: Schema.Literals(["guest", "authenticated"]),
    type: "picklist",
    expected: '("guest" | "authenticated")'
  },
  text: texts,
  integer: { schema: wholeNumber, type: "integer", expected: "a whole number from 0 to 2147483647" },
  amount: {
    schema: Schema.toEncoded(Amount),
    type: "amount",
    expected: "a decimal amount of at most 12 digits, and 8 after the point"
  },
  date_time: {
    schema: Schema.toEncoded(Timestamp),
    type: "date_time",
    expected: "an ISO 8601 date-time with an offset"
  },
  attribute: {
    schema: Schema.Union([shortText, Schema.Finite, Schema.Boolean]),
    type: "string",
    expected: "text of 1 to 200 characters, a number or a boolean"
  }
}

/** One rule. `value` is a list for `in`, and a boolean for `exists`. */
export const Rule = Schema.Struct({
  field: text({ minLength: 1, maxLength: 200 }).annotate({
    description:
      `${Object.keys(fieldTypes).join(", ")}, or \`${attributePrefix}<key>\` for an attribute. \`totalOrderValue\` is the ` +
      "sum of orders in the organization's currency."
  }),
  op: Schema.Literals(ops),
  value: Schema.Union([
    Schema.String,
    Schema.Finite,
    Schema.Boolean,
    Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])).check(
      Schema.isMinLength(1),
      Schema.isMaxLength(ruleValuesMax)
    )
  ])
}).annotate({ identifier: "AudienceRule" })
export type Rule = typeof Rule.Type

export const AudienceRules = Schema.Struct({
  match: Schema.Literals(["all", "any"]),
  rules: Schema.Array(Rule).check(Schema.isMinLength(1), Schema.isMaxLength(rulesMax))
}).annotate({ identifier: "AudienceRules" })
export type AudienceRules = typeof AudienceRules.Type

/** An invalid part of a rule: its path, and the expected value. */
export interface RuleProblem {
  readonly path: ReadonlyArray<string | number>
  readonly type: string
  readonly expected: string
}

/** Returns the field's type, or undefined if there is no such field. */
export const typeOf = (field: string): FieldType | undefined =>
  attributeOf(field) === undefined ? (Object.hasOwn(fieldTypes, field) ? fieldTypes[field] : undefined) : "attribute"

/** Returns the key of the attribute that the field refers to. */
export const attributeOf = (field: string): string | undefined =>
  field.startsWith(attributePrefix) && field.length > attributePrefix.length
    ? field.slice(attributePrefix.length)
    : undefined

/** Returns all problems of rules that match the schema. */
export const problemsOf = ({ rules }: AudienceRules): ReadonlyArray<RuleProblem> =>
  rules.flatMap((rule, index) =>
    problemsOfRule(rule).map((problem) => ({ ...problem, path: ["rules", index, ...problem.path] }))
  )

function problemsOfRule({ field, op, value }: Rule): ReadonlyArray<RuleProblem> {
  const type = typeOf(field)
  if (type === undefined) {
    const expected = `(${[...Object.keys(fieldTypes), `${attributePrefix}<key>`].join(" | ")})`
    return [{ path: ["field"], type: "picklist", expected }]
  }
  if (!opsOf[type].includes(op)) return [{ path: ["op"], type: "picklist", expected: `(${opsOf[type].join(" | ")})` }]
  if (op === "exists")
    return typeof value === "boolean" ? [] : [{ path: ["value"], type: "boolean", expected: "boolean" }]
  const { schema, ...found } = fitting(type, op)
  const isFit = Schema.is(schema as Schema.Codec<unknown, unknown>)
  if (op !== "in") return isFit(value) ? [] : [{ path: ["value"], ...found }]
  if (!Array.isArray(value)) return [{ path: ["value"], type: "array", expected: `an array, each ${found.expected}` }]
  return value.flatMap((item, index) => (isFit(item) ? [] : [{ path: ["value", index], ...found }]))
}

/** Returns the valid values for an operator. For attributes, text operators need text and comparisons need numbers. */
function fitting(type: FieldType, op: Op): Fitting {
  if (type !== "attribute") return valuesOf[type]
  return rankOps.has(op) ? numbers : partOps.has(op) ? texts : valuesOf.attribute
}
