/** The sequence: one step of an experience, which holds mechanisms. */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"
import { SequenceProduct, SequenceProducts } from "./SequenceProduct.ts"
import { recordSchema } from "../values/Record.ts"
import { lengthOf, Name, text } from "../values/Text.ts"
import { plainCode } from "../values/TypedCode.ts"

/** The selector of the product: the consumer, or the system by the weights of the sequence's products. */
export const ProductSelectionMode = Schema.Literals(["USER_SELECTED", "SYSTEM_ASSIGNED"])

/** A code that opens a sequence to consumers. Only its hash is stored, so it is never shown again. */
export const AccessCode = text({ minLength: 1, maxLength: 200 })

const accessCodeLengthMin = 6

/** An access code that an admin sets, without its blanks. Codes from before this minimum keep working. */
export const NewAccessCode = text({ maxLength: 200 }).check(
  Schema.makeFilter((code: string) => lengthOf(plainCode(code)) >= accessCodeLengthMin, {
    expected: `>=${accessCodeLengthMin}`,
    representation: { id: "usher/min_length", payload: null },
    toJsonSchema: () => ({ minLength: accessCodeLengthMin })
  })
)

/** Upper bound of an order limit. */
const orderLimitMax = 1_000_000

/**
 * The fields an admin sets. A sequence with higher priority comes first. With an audience, only its members may enter.
 */
export const Settings = Schema.Struct({
  name: Name,
  priority: Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 })),
  productSelectionMode: Schema.optionalKey(ProductSelectionMode),
  /** The products that the system selects from; absent: none. */
  sequenceProducts: Schema.optionalKey(SequenceProducts),
  audienceId: Schema.optionalKey(Id),
  /** Number of orders in the sequence after which a consumer can no longer enter; absent: no limit. */
  orderLimitPerConsumer: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: orderLimitMax })))
})
export type Settings = typeof Settings.Type

/** The sequence in responses. Unset fields are null. */
export const Sequence = recordSchema("Sequence", {
  experienceId: Id,
  name: Schema.String,
  priority: Schema.Int,
  productSelectionMode: Schema.NullOr(ProductSelectionMode),
  sequenceProducts: Schema.Array(SequenceProduct),
  audienceId: Schema.NullOr(Id),
  orderLimitPerConsumer: Schema.NullOr(Schema.Int),
  hasAccessCode: Schema.Boolean
})
export type Sequence = typeof Sequence.Type

/** How the list of sequences can be sorted. The first is the default. */
export const sequenceSorts = ["createdAt", "name", "priority"] as const
