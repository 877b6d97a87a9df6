import { assert, describe, it } from "@effect/vitest"
import { isOffered, offersOf } from "../../../src/domain/experience/ExperienceProduct.ts"

describe("the offered products of an experience", () => {
  it("comes in the order of the list, unless positions are named", () => {
    const offers = offersOf([
      { productId: "a" },
      { productId: "b", productVariantId: null, position: null },
      { productId: "c", productVariantId: "c1", position: 0 }
    ])
    assert.deepStrictEqual(offers, [
      { productId: "a", productVariantId: null, position: 0 },
      { productId: "b", productVariantId: null, position: 1 },
      { productId: "c", productVariantId: "c1", position: 0 }
    ])
  })

  it("is every variant of a product that is offered whole, and otherwise only those it names", () => {
    const offers = [
      { productId: "whole", productVariantId: null },
      { productId: "part", productVariantId: "p1" }
    ]
    assert.isTrue(isOffered(offers, { id: "anything", productId: "whole" }))
    assert.isTrue(isOffered(offers, { id: "p1", productId: "part" }))
    assert.isFalse(isOffered(offers, { id: "p2", productId: "part" }))
    assert.isFalse(isOffered(offers, { id: "x", productId: "another" }))
    assert.isFalse(isOffered([], { id: "x", productId: "another" }))
  })
})
