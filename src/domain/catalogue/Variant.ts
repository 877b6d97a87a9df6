/**
 * The variant: a form in which a product can be had, told from the others by its values of options such as size and
 * colour (interface document 2.7).
 */
import { Schema } from "effect"
import { Price } from "../values/Amount.ts"
import { stampFields } from "../experience/Experience.ts"
import { Id } from "../values/Ids.ts"
import { JsonObject, text } from "../values/Text.ts"
import { Metadata } from "./Metadata.ts"
import { originFields, originSettings } from "./Origin.ts"

/** Variants that one product has at most, and that can be created together with it. */
export const variantsMax = 100
/** Options that one variant has values of at most. */
export const optionsMax = 20

/** The least and the most a quantity can be. */
export const quantityBounds = { minimum: -1_000_000_000, maximum: 1_000_000_000 } as const

/** Whether stock is counted, and whether more may be sold than is there. */
export const InventoryPolicy = Schema.Literals(["untracked", "deny", "continue"])

/** What an admin sets. The quantity falls below zero where more is sold than is there. */
export const Settings = Schema.Struct({
  sku: Schema.optionalKey(text({ maxLength: 200 })),
  price: Schema.optionalKey(Price),
  inventoryQuantity: Schema.optionalKey(Schema.Int.check(Schema.isBetween(quantityBounds))),
  inventoryPolicy: InventoryPolicy,
  metadata: Schema.optionalKey(Metadata),
  ...originSettings
})
export type Settings = typeof Settings.Type

/** The value that a variant has of an option. */
export const OptionChoice = Schema.Struct({ optionId: Id, valueId: Id })
export type OptionChoice = typeof OptionChoice.Type

/** The options of one variant, each given once. */
export const OptionChoices = Schema.Array(OptionChoice).check(Schema.isMaxLength(optionsMax))

/** The variant without its options, as it goes out in the products of an experience; what is not set is null. */
export const PlainVariant = Schema.Struct({
  id: Id,
  organizationId: Id,
  productId: Id,
  sku: Schema.NullOr(Schema.String),
  price: Schema.NullOr(Price),
  inventoryQuantity: Schema.NullOr(Schema.Int),
  inventoryPolicy: InventoryPolicy,
  metadata: Schema.NullOr(JsonObject),
  ...originFields,
  ...stampFields
}).annotate({ identifier: "PlainVariant" })
export type PlainVariant = typeof PlainVariant.Type

/** The variant as it goes out. */
export const Variant = Schema.Struct({
  ...PlainVariant.fields,
  options: Schema.Array(Schema.Struct({ optionId: Id, optionName: Schema.String, value: Schema.String, valueId: Id }))
}).annotate({ identifier: "Variant" })
export type Variant = typeof Variant.Type
