/**
 * The sequence: one step of an experience, which holds mechanisms (interface document 2.8; completions 4).
 */
import { Schema } from "effect"
import { stampFields } from "./Experience.ts"
import { Id } from "./Ids.ts"
import { Name } from "./Text.ts"

/** Who picks the product: the consumer, or the weights of the sequence's products. */
export const ProductSelectionMode = Schema.Literals(["USER_SELECTED", "SYSTEM_ASSIGNED"])

/** What an admin sets. Higher priority comes first. */
export const Settings = Schema.Struct({
  name: Name,
  priority: Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 })),
  productSelectionMode: Schema.optionalKey(ProductSelectionMode)
})
export type Settings = typeof Settings.Type

/** The sequence as it goes out; what is not set is null. */
export const Sequence = Schema.Struct({
  id: Id,
  organizationId: Id,
  experienceId: Id,
  name: Schema.String,
  priority: Schema.Int,
  productSelectionMode: Schema.NullOr(ProductSelectionMode),
  audienceId: Schema.NullOr(Id),
  ...stampFields
}).annotate({ identifier: "Sequence" })
export type Sequence = typeof Sequence.Type
