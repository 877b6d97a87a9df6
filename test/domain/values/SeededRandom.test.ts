import { assert, describe, it } from "@effect/vitest"
import { below, seededRandom, shuffle, shuffleByWeight } from "../../../src/domain/values/SeededRandom.ts"

const seed = "00000001000000020000000300000004"

describe("seeded chance", () => {
  it("gives the published sequence of xoshiro128** for the state 1, 2, 3, 4", () => {
    const random = seededRandom(seed)
    assert.deepStrictEqual(
      Array.from({ length: 10 }, random),
      [
        11_520, 0, 5_927_040, 70_819_200, 2_031_721_883, 1_637_235_492, 1_287_239_034, 3_734_860_849, 3_729_100_597,
        4_258_142_804
      ]
    )
  })

  it("gives numbers even for a seed of zeros", () => {
    const random = seededRandom("0".repeat(32))
    assert.isAbove(new Set(Array.from({ length: 100 }, random)).size, 90)
  })

  it("stays below the bound and reaches every number, evenly", () => {
    const random = seededRandom("9e3779b97f4a7c15f39cc0605cedc834")
    const counts = Array.from({ length: 6 }, () => 0)
    for (let round = 0; round < 60_000; round++) counts[below(random, 6)]!++
    // The standard deviation is 91; the bounds are five of them.
    for (const count of counts) assert.approximately(count, 10_000, 456)
  })

  it("draws again values that would favour the small numbers", () => {
    const thrown = [4_294_967_295, 4_294_967_294, 5]
    assert.strictEqual(
      below(() => thrown.shift()!, 4_294_967_294),
      5
    )
  })

  it("shuffles three items into each of their orders equally often, and loses none", () => {
    const random = seededRandom("9e3779b97f4a7c15f39cc0605cedc834")
    const orders = new Map<string, number>()
    for (let round = 0; round < 6_000; round++) {
      const items = ["a", "b", "c"]
      shuffle(items, random)
      orders.set(items.join(""), (orders.get(items.join("")) ?? 0) + 1)
    }
    assert.deepStrictEqual([...orders.keys()].toSorted(), ["abc", "acb", "bac", "bca", "cab", "cba"])
    for (const count of orders.values()) assert.approximately(count, 1_000, 145)
  })

  it("shuffles by weight: each item comes next with its share of the remaining weight, and none is lost", () => {
    const random = seededRandom("9e3779b97f4a7c15f39cc0605cedc834")
    const weights: { readonly [item: string]: number } = { a: 1, b: 0.5, c: 0.01 }
    const orders = new Map<string, number>()
    for (let round = 0; round < 60_000; round++) {
      const items = ["a", "b", "c"]
      shuffleByWeight(items, random, (item) => weights[item]!)
      assert.deepStrictEqual(items.toSorted(), ["a", "b", "c"])
      orders.set(items.join(""), (orders.get(items.join("")) ?? 0) + 1)
    }
    const chance = ([first, second]: string) => {
      const left = 1.51 - weights[first!]!
      return (weights[first!]! / 1.51) * (weights[second!]! / left)
    }
    for (const order of ["abc", "acb", "bac", "bca", "cab", "cba"]) {
      const expected = 60_000 * chance(order)
      // Five standard deviations.
      assert.approximately(orders.get(order) ?? 0, expected, 5 * Math.sqrt(expected))
    }
  })

  it("shuffles by weight into the same order for the same seed", () => {
    const shuffled = () => {
      const items = Array.from({ length: 100 }, (_, index) => index)
      shuffleByWeight(items, seededRandom(seed), (item) => (item % 2 === 0 ? 1 : 0.3))
      return items
    }
    assert.deepStrictEqual(shuffled(), shuffled())
  })
})
