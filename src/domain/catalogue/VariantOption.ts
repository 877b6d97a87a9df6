/**
 * The variant option: a property in which the variants of a product differ, such as size or colour, with its values.
 */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"
import { recordSchema, stampFields } from "../values/Record.ts"
import { key, Name, text } from "../values/Text.ts"

/** Limit of values per option. Archived values do not count. */
export const valuesMax = 1_000

/** The fields of an option that an admin sets. */
export const Settings = Schema.Struct({ name: Name })
export type Settings = typeof Settings.Type

const colorPattern = /^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/

/** A colour in CSS hexadecimal notation, with or without opacity. Stored as it was written. */
export const ColorHex = Schema.String.check(
  Schema.makeFilter((text: string) => colorPattern.test(text), {
    expected: "# and 3, 4, 6 or 8 hexadecimal digits",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ pattern: colorPattern.source })
  })
).annotate({ examples: ["#1A2B3C"] })

/** The fields of a value that an admin sets. Reordering sets its place among the others. */
export const ValueSettings = Schema.Struct({
  value: key({ minLength: 1, maxLength: 200 }),
  displayValue: Schema.optionalKey(text({ minLength: 1, maxLength: 200 })),
  colorHex: Schema.optionalKey(ColorHex),
  isCentrallyManaged: Schema.Boolean
})
export type ValueSettings = typeof ValueSettings.Type

/** A value of an option in responses. Unset fields are null. */
export const VariantOptionValue = Schema.Struct({
  id: Id,
  optionId: Id,
  organizationId: Id,
  value: Schema.String,
  displayValue: Schema.NullOr(Schema.String),
  colorHex: Schema.NullOr(Schema.String),
  isCentrallyManaged: Schema.Boolean,
  sortOrder: Schema.Int,
  ...stampFields
}).annotate({ identifier: "VariantOptionValue" })
export type VariantOptionValue = typeof VariantOptionValue.Type

export const VariantOption = recordSchema("VariantOption", {
  name: Schema.String
})
export type VariantOption = typeof VariantOption.Type

/** The option with its values that are not archived, in order. */
export const VariantOptionWithValues = Schema.Struct({
  ...VariantOption.fields,
  values: Schema.Array(VariantOptionValue)
}).annotate({ identifier: "VariantOptionWithValues" })
export type VariantOptionWithValues = typeof VariantOptionWithValues.Type

/** An identifier that makes an order of values invalid. `index` is its position, if it has one. */
export interface OrderProblem {
  readonly problem: "duplicate" | "unknown" | "omitted"
  readonly id: string
  readonly index?: number
}

/** Returns one problem for each identifier because of which `valueOrder` does not contain each of `ids` once. */
export const orderProblems = (
  ids: ReadonlyArray<string>,
  valueOrder: ReadonlyArray<string>
): ReadonlyArray<OrderProblem> => {
  const known = new Set(ids)
  const seen = new Set<string>()
  const problems = new Map<string, OrderProblem>()
  for (const [index, id] of valueOrder.entries()) {
    const problem = !known.has(id) ? "unknown" : seen.has(id) ? "duplicate" : undefined
    if (problem !== undefined && !problems.has(id)) problems.set(id, { problem, id, index })
    seen.add(id)
  }
  const omitted = ids.filter((id) => !seen.has(id)).map((id) => ({ problem: "omitted", id }) as const)
  return [...problems.values(), ...omitted]
}

/** How the list of values of a variant option can be sorted. The first is the default. */
export const variantOptionValueSorts = ["sortOrder"] as const

/** How the list of variant options can be sorted. The first is the default. */
export const variantOptionSorts = ["createdAt", "name"] as const
