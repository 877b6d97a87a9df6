import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { sha256 } from "../../../src/domain/values/Digest.ts"
import {
  pick,
  type SequenceProduct,
  SequenceProducts,
  sequenceProductsMax,
  weightMax
} from "../../../src/domain/experience/SequenceProduct.ts"
import { chiSquareTail } from "../draw/chiSquare.ts"

const secret = sha256("a secret")
const idOf = (name: string): string => {
  const digits = sha256(name)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}
const sequenceId = idOf("sequence")
const crowd = Array.from({ length: 20_000 }, (_, index) => idOf(`consumer ${index}`))
const consumers = (count: number) => crowd.slice(0, count)
const weighing = (...weights: ReadonlyArray<number>): ReadonlyArray<SequenceProduct> =>
  weights.map((weight, index) => ({ productId: idOf(`product ${index}`), weight }))
const picked = (products: ReadonlyArray<SequenceProduct>, consumerId: string, from = sequenceId) =>
  pick(secret, { sequenceId: from, consumerId }, products)?.productId

describe("the products that a sequence weighs", () => {
  const isAccepted = Schema.is(SequenceProducts)

  it("have whole weights from 0 to a million, and are a hundred at most", () => {
    assert.isTrue(
      [[], weighing(0), weighing(weightMax, 1), weighing(...Array(sequenceProductsMax).fill(1))].every(isAccepted)
    )
    const wrong = [
      weighing(-1),
      weighing(weightMax + 1),
      weighing(0.5),
      weighing(Number.NaN),
      weighing(...Array(sequenceProductsMax + 1).fill(1)),
      [{ productId: sequenceId }],
      [{ weight: 1 }]
    ]
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })
})

describe("the product that is picked for a consumer", () => {
  for (const weights of [
    [1, 1],
    [1, 1, 1, 1, 1, 1, 1],
    [1, 2],
    [5, 30, 65],
    [100, 1, 1, 1],
    [weightMax, 500_000, 250_000, 1_000, 0]
  ]) {
    it(`comes by weight, of ${weights.join(":")}, among 20,000 consumers`, () => {
      const products = weighing(...weights)
      const counts = new Map<string | undefined, number>()
      for (const consumerId of crowd) {
        const productId = picked(products, consumerId)
        counts.set(productId, (counts.get(productId) ?? 0) + 1)
      }
      const sum = weights.reduce((total, weight) => total + weight, 0)
      const possible = products.filter(({ weight }) => weight > 0)
      const chiSquare = possible.reduce((total, { productId, weight }) => {
        const expected = (crowd.length * weight) / sum
        return total + ((counts.get(productId) ?? 0) - expected) ** 2 / expected
      }, 0)
      assert.strictEqual(counts.size, possible.length)
      assert.isAbove(chiSquareTail(chiSquare, possible.length - 1), 0.001)
    })
  }

  it("is the same for every order of the products", () => {
    const products = weighing(3, 1, 4, 1, 5, 9, 2, 6)
    for (const consumerId of consumers(500)) {
      const once = picked(products, consumerId)
      assert.strictEqual(picked(products, consumerId), once)
      assert.strictEqual(picked(products.toReversed(), consumerId), once)
    }
    // Written down, so that no later version of the algorithm moves a consumer unnoticed.
    const shares = consumers(8).map((consumerId) =>
      products.findIndex(({ productId }) => productId === picked(products, consumerId))
    )
    assert.deepStrictEqual(shares, [0, 5, 6, 7, 7, 4, 5, 4])
  })

  it("does not depend on the consumer's product in another sequence, and cannot be predicted without the secret", () => {
    const products = weighing(1, 1)
    const share = (isSame: (consumerId: string) => boolean) => crowd.filter(isSame).length / crowd.length
    const elsewhere = share(
      (consumerId) => picked(products, consumerId) === picked(products, consumerId, idOf("another"))
    )
    const guessed = share(
      (consumerId) =>
        picked(products, consumerId) === pick(sha256("a guess"), { sequenceId, consumerId }, products)!.productId
    )
    for (const half of [elsewhere, guessed]) assert.approximately(half, 0.5, 0.02)
  })

  it("stays for all other consumers when a product is removed, added or weighted differently", () => {
    const [a, b, c] = weighing(10, 20, 30) as [SequenceProduct, SequenceProduct, SequenceProduct]
    for (const consumerId of consumers(2_000)) {
      const before = picked([a, b, c], consumerId)
      if (before !== c.productId) assert.strictEqual(picked([a, b], consumerId), before)
      const heavier = picked([a, b, { ...c, weight: 60 }], consumerId)
      assert.include([before, c.productId], heavier)
      const lighter = picked([{ ...a, weight: 5 }, b, c], consumerId)
      if (before !== a.productId) assert.strictEqual(lighter, before)
    }
  })

  it("is never a product without a weight; without weights, no product is picked", () => {
    for (const consumerId of consumers(500)) {
      assert.strictEqual(picked(weighing(0, 0, 1, 0), consumerId), idOf("product 2"))
    }
    assert.isUndefined(picked(weighing(0, 0), sequenceId))
    assert.isUndefined(picked([], sequenceId))
  })
})
