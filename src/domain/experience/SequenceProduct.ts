/**
 * The products of a sequence with their weights, and the one that the system picks for a consumer (interface document 2.8,
 * `productSelectionMode`; completions 1 and 4).
 *
 * The pick is computed, never stored. Each product gets `u` from a hash over sequence, consumer and product, and the
 * largest u^(1/weight) is picked, as in a drawing: so its chance is its weight over the sum of all, in whatever order they
 * come, and one consumer always gets the same. A product that is archived, added or weighted otherwise moves only those
 * consumers whom it loses or wins. Every step is one of integers.
 */
import { Schema } from "effect"
import { hmacSha256 } from "../values/Digest.ts"
import { shortfall } from "../draw/proof/Algorithm.ts"
import { Id } from "../values/Ids.ts"

/** Products that one sequence weighs. */
export const sequenceProductsMax = 100

/** The highest weight there is. */
export const weightMax = 1_000_000

/** A product, and how likely it is beside the others; one of weight 0 is not picked. */
export const SequenceProduct = Schema.Struct({
  productId: Id,
  weight: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: weightMax }))
}).annotate({ identifier: "SequenceProduct" })
export type SequenceProduct = typeof SequenceProduct.Type

/** What a sequence weighs. That no product comes twice, and that not all weights are 0, is judged with the whole body. */
export const SequenceProducts = Schema.Array(SequenceProduct).check(Schema.isMaxLength(sequenceProductsMax))

/** For whom a product is picked, and where. */
export interface PickedFor {
  readonly sequenceId: string
  readonly consumerId: string
}

/**
 * The product that is picked for the consumer; undefined if none has a weight. `secret` is hexadecimal, of at most 64
 * bytes: whoever does not know it cannot tell beforehand what somebody will get.
 */
export const pick = <P extends SequenceProduct>(
  secret: string,
  { sequenceId, consumerId }: PickedFor,
  products: ReadonlyArray<P>
): P | undefined => {
  const digestOf = hmacSha256(secret, sequenceId + consumerId, sequenceId.length)
  let picked: Scored<P> | undefined
  for (const product of products) {
    if (product.weight === 0) continue
    const u = Number.parseInt(digestOf(product.productId).slice(0, 13), 16)
    const scored = { product, shortfall: BigInt(shortfall(u)) }
    if (picked === undefined || isBetter(scored, picked)) picked = scored
  }
  return picked?.product
}

interface Scored<P> {
  readonly product: P
  readonly shortfall: bigint
}

/** True if shortfall over weight is less, without dividing; of equals the product of the lower id is better. */
const isBetter = (one: Scored<SequenceProduct>, other: Scored<SequenceProduct>): boolean => {
  const difference = one.shortfall * BigInt(other.product.weight) - other.shortfall * BigInt(one.product.weight)
  return difference === 0n ? one.product.productId < other.product.productId : difference < 0n
}
