/**
 * The weighted products of a sequence, and the selection of one for a consumer.
 *
 * The selection is computed, never stored. Each product gets `u` from a hash over sequence, consumer and product, and
 * the product with the largest u^(1/weight) is selected, as in a draw. So a product's chance is its weight over the sum
 * of all weights, in any order of the products, and a consumer always gets the same product. When a product is
 * archived, added or given another weight, only consumers who lose or gain that product change. All steps use integers.
 */
import { Schema } from "effect"
import { hmacSha256 } from "../values/Digest.ts"
import { shortfall } from "../draw/proof/Algorithm.ts"
import { Id } from "../values/Ids.ts"

/** Limit of products per sequence. */
export const sequenceProductsMax = 100

/** Upper bound of a weight. */
export const weightMax = 1_000_000

/** A product and its relative weight. A product with weight 0 is never selected. */
export const SequenceProduct = Schema.Struct({
  productId: Id,
  weight: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: weightMax }))
}).annotate({ identifier: "SequenceProduct" })
export type SequenceProduct = typeof SequenceProduct.Type

/** The products of a sequence. Duplicates, and weights that are all 0, are checked with the whole body. */
export const SequenceProducts = Schema.Array(SequenceProduct).check(Schema.isMaxLength(sequenceProductsMax))

/** The sequence and the consumer of a selection. */
export interface PickedFor {
  readonly sequenceId: string
  readonly consumerId: string
}

/**
 * Returns the product for the consumer, or undefined if no product has a weight. `secret` is hexadecimal, of at most 64
 * bytes. Without it, the selection cannot be predicted.
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

/** True if shortfall over weight is less, compared without division. The lower product id breaks ties. */
const isBetter = (one: Scored<SequenceProduct>, other: Scored<SequenceProduct>): boolean => {
  const difference = one.shortfall * BigInt(other.product.weight) - other.shortfall * BigInt(one.product.weight)
  return difference === 0n ? one.product.productId < other.product.productId : difference < 0n
}
