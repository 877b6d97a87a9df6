import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { commitmentOf, entriesDigest, scoring, weightedScore } from "../../../../src/domain/draw/proof/Algorithm.ts"
import { Dice } from "../../../e2e/support/Dice.ts"
import * as Naive from "./naive.ts"

const last = 2 ** 52 - 1

/** Returns a number of up to 52 bits; large numbers are as frequent as small ones. */
const anyU = (dice: Dice): number => Math.floor(dice.next() * 2 ** dice.between(1, 52))

describe("the score of an entry", () => {
  it("equals the score computed with integers of any length, to the last bit", () => {
    const dice = new Dice(7)
    const us = [0, 1, 2, 3, 2 ** 51 - 1, 2 ** 51, 2 ** 51 + 1, last - 1, last]
    for (let bit = 0; bit < 52; bit++) us.push(2 ** bit - 1, 2 ** bit)
    for (let count = 0; count < 20_000; count++) us.push(anyU(dice), last - anyU(dice))
    const wrong = us.filter((u) =>
      [1_000_000, 1_001_000_000, dice.between(1_000_000, 1_001_000_000)].some(
        (weight) => BigInt(weightedScore(u, weight)) !== Naive.score(BigInt(u), weight, true)
      )
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("sorts like u to the power of 1 / w", () => {
    const dice = new Dice(8)
    for (let count = 0; count < 20_000; count++) {
      const [u, weight, other, otherWeight] = [anyU(dice), dice.between(1, 1_001), anyU(dice), dice.between(1, 1_001)]
      const [power, otherPower] = [((u + 1) / 2 ** 52) ** (1 / weight), ((other + 1) / 2 ** 52) ** (1 / otherWeight)]
      // Powers are rounded, so powers that are almost the same have no reliable order.
      if (Math.abs(power - otherPower) < 1e-12) continue
      const isBetter = weightedScore(u, weight * 1_000_000) < weightedScore(other, otherWeight * 1_000_000)
      assert.strictEqual(isBetter, power > otherPower, `${u} ${weight} ${other} ${otherWeight}`)
    }
  })

  it("gets no worse when u or the weight grows", () => {
    const dice = new Dice(9)
    for (let count = 0; count < 20_000; count++) {
      const [u, weight] = [anyU(dice), dice.between(1_000_000, 1_000_999_999)]
      const score = weightedScore(u, weight)
      assert.isAtMost(weightedScore(Math.min(last, u + 1), weight), score)
      assert.isAtMost(weightedScore(u, weight + 1), score)
    }
  })

  it("is 0, the best, for the largest u, whatever the weight", () => {
    assert.strictEqual(weightedScore(last, 1_000_000), 0)
    assert.strictEqual(weightedScore(last, 1_001_000_000), 0)
  })

  it("is the distance of u from its maximum if the weights are equal", () => {
    const chance = { seed: "01".repeat(32), entriesDigest: "02".repeat(32), beacon: "" }
    const ids = Array.from({ length: 50 }, (_, index) => `${index}`.padStart(26, "0"))
    const scoreOf = scoring(chance, false)
    const order = ids.toSorted((a, b) => scoreOf(a, 1_000_000) - scoreOf(b, 1_000_000))
    assert.deepStrictEqual(
      order,
      Naive.order(
        chance,
        ids.map((id) => ({ id, weight: 1_000_000 }))
      )
    )
  })
})

describe("a published digest", () => {
  it("commits to the bytes of the seed", () => {
    const seed = "0123456789abcdef".repeat(4)
    assert.strictEqual(commitmentOf(seed), createHash("sha256").update(Buffer.from(seed, "hex")).digest("hex"))
  })

  it("has one line per entry of the list", () => {
    const entries = [
      { id: "0".repeat(26), weight: 1_000_000 },
      { id: "f".repeat(26), weight: 1_250_000 }
    ]
    const list = entriesDigest()
    for (const { id, weight } of entries) list.add(id, weight)
    assert.strictEqual(list.digest(), Naive.digest(entries))
  })
})
