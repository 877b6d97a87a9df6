/**
 * The sequence: one step of an experience, which holds mechanisms (interface document 2.8; completions 4).
 */
import { Schema } from "effect"
import { stampFields } from "./Experience.ts"
import { Id } from "../values/Ids.ts"
import { SequenceProduct, SequenceProducts } from "./SequenceProduct.ts"
import { Name, text } from "../values/Text.ts"

/** Who picks the product: the consumer, or the weights of the sequence's products. */
export const ProductSelectionMode = Schema.Literals(["USER_SELECTED", "SYSTEM_ASSIGNED"])

/** Opens a sequence to whoever knows it. It is never shown again: only a hash of it is kept. */
export const AccessCode = text({ minLength: 1, maxLength: 200 })

/** The highest limit of orders there is. */
const orderLimitMax = 1_000_000

/** What an admin sets. Higher priority comes first; with an audience the sequence is for its members alone. */
export const Settings = Schema.Struct({
  name: Name,
  priority: Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 })),
  productSelectionMode: Schema.optionalKey(ProductSelectionMode),
  /** What the system picks from where it picks; absent: nothing. */
  sequenceProducts: Schema.optionalKey(SequenceProducts),
  audienceId: Schema.optionalKey(Id),
  /** A consumer with so many orders in the sequence enters its mechanisms no more; absent: no limit. */
  orderLimitPerConsumer: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: orderLimitMax })))
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
  sequenceProducts: Schema.Array(SequenceProduct),
  audienceId: Schema.NullOr(Id),
  orderLimitPerConsumer: Schema.NullOr(Schema.Int),
  hasAccessCode: Schema.Boolean,
  ...stampFields
}).annotate({ identifier: "Sequence" })
export type Sequence = typeof Sequence.Type
