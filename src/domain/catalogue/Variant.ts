/**
 * The variant: one form of a product, which differs from the others in its values of options such as size and colour.
 */
import { Schema } from "effect"
import { Price } from "../values/Amount.ts"
import { Id } from "../values/Ids.ts"
import { recordSchema } from "../values/Record.ts"
import { JsonObject, key, Name, text } from "../values/Text.ts"
import { Metadata } from "./Metadata.ts"
import { originFields, originSettings } from "./Origin.ts"

/** Limit of variants per product, also of those created together with it. */
export const variantsMax = 100
/** Limit of options per variant. */
export const optionsMax = 20

export const quantityBounds = { minimum: -1_000_000_000, maximum: 1_000_000_000 } as const

/** Whether stock is counted, and whether more may be sold than is left. */
export const InventoryPolicy = Schema.Literals(["untracked", "deny", "continue"])

/** The fields an admin sets. The quantity becomes negative if more is sold than was left. */
export const Settings = Schema.Struct({
  sku: Schema.optionalKey(text({ maxLength: 200 })),
  price: Schema.optionalKey(Price),
  inventoryQuantity: Schema.optionalKey(Schema.Int.check(Schema.isBetween(quantityBounds))),
  inventoryPolicy: InventoryPolicy,
  metadata: Schema.optionalKey(Metadata),
  ...originSettings
})
export type Settings = typeof Settings.Type

/** A variant's value of one option. */
export const OptionChoice = Schema.Struct({ optionId: Id, valueId: Id })
export type OptionChoice = typeof OptionChoice.Type

/** The same by the option's name and the value's text. What the organization lacks is created. */
export const NamedChoice = Schema.Struct({ option: Name, value: key({ minLength: 1, maxLength: 200 }) })
export type NamedChoice = typeof NamedChoice.Type

/** The options of one variant, each at most once. */
export const OptionChoices = Schema.Array(Schema.Union([OptionChoice, NamedChoice])).check(
  Schema.isMaxLength(optionsMax)
)
export type OptionChoices = typeof OptionChoices.Type

/** The variant without its options, in the products of an experience. Unset fields are null. */
export const PlainVariant = recordSchema("PlainVariant", {
  productId: Id,
  sku: Schema.NullOr(Schema.String),
  price: Schema.NullOr(Price),
  inventoryQuantity: Schema.NullOr(Schema.Int),
  inventoryPolicy: InventoryPolicy,
  metadata: Schema.NullOr(JsonObject),
  ...originFields
})
export type PlainVariant = typeof PlainVariant.Type

/** The variant in responses. */
export const Variant = Schema.Struct({
  ...PlainVariant.fields,
  options: Schema.Array(Schema.Struct({ optionId: Id, optionName: Schema.String, value: Schema.String, valueId: Id }))
}).annotate({ identifier: "Variant" })
export type Variant = typeof Variant.Type

/** How the list of variants can be sorted. The first is the default. */
export const variantSorts = ["createdAt", "updatedAt"] as const
