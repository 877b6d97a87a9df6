import { assert, describe, it } from "@effect/vitest"
import { errorRange, newConformal, noteOutcome } from "../../../../src/domain/queue/wait/Conformal.ts"
import { Dice } from "../../../e2e/support/Dice.ts"

/** Returns the share of the errors that a range told before covers. */
const coverage = (errorOf: (dice: Dice, index: number) => number, outcomes = 4_000): number => {
  const dice = new Dice(3)
  const conformal = newConformal(0.1, [-1, 0, 1])
  for (let index = 0; index < outcomes; index++) {
    const [least, most] = errorRange(conformal)
    const error = errorOf(dice, index)
    noteOutcome(conformal, error, least <= error && error <= most)
  }
  return conformal.covered / conformal.outcomes
}

describe("adaptive conformal inference", () => {
  it("covers nine of ten outcomes of a distribution that it does not know", () => {
    assert.closeTo(
      coverage((dice) => dice.next() ** 3 * 50),
      0.9,
      0.01
    )
  })

  it("covers nine of ten outcomes while the distribution changes", () => {
    assert.closeTo(
      coverage((dice, index) => (dice.next() - 0.3) * (1 + index / 100)),
      0.9,
      0.02
    )
    assert.closeTo(
      coverage((dice, index) => dice.next() + (index % 1_000 < 500 ? 0 : 3)),
      0.9,
      0.02
    )
  })

  it("widens after misses and narrows after hits", () => {
    const conformal = newConformal(0.1, [-2, -1, 0, 1, 2])
    const widthOf = () => errorRange(conformal)[1] - errorRange(conformal)[0]
    const before = widthOf()
    noteOutcome(conformal, 3, false)
    assert.isAbove(widthOf(), before)
    for (let index = 0; index < 20; index++) noteOutcome(conformal, 0, true)
    assert.isBelow(widthOf(), before)
  })
})
