/**
 * Small draws of each shape, with fixed seeds. Chi-square compares the frequency of each outcome with its chance. An
 * outcome is the winners in their order. p below 0.001 fails. `npm run prove -- fairness` makes 100,000 draws of each
 * shape.
 */
import { assert, describe, it } from "@effect/vitest"
import { sha256 } from "../../../../src/domain/values/Digest.ts"
import { scoring } from "../../../../src/domain/draw/proof/Algorithm.ts"
import { chiSquareTail } from "../chiSquare.ts"

const draws = Number(process.env["FAIRNESS_DRAWS"] ?? 20_000)

interface Shape {
  readonly name: string
  readonly weights: ReadonlyArray<number>
  readonly winners: number
}

const shapes: ReadonlyArray<Shape> = [
  { name: "one of two", weights: [1, 1], winners: 1 },
  { name: "one of seven", weights: [1, 1, 1, 1, 1, 1, 1], winners: 1 },
  { name: "three of six", weights: [1, 1, 1, 1, 1, 1], winners: 3 },
  { name: "one of two, the second twice as heavy", weights: [1, 2], winners: 1 },
  { name: "two of five, of different weights", weights: [1, 1.5, 2, 3, 1], winners: 2 },
  { name: "one of four, the first a hundred times as heavy", weights: [100, 1, 1, 1], winners: 1 }
]

/** Draws and returns the frequency of each outcome. */
const drawn = ({ name, weights, winners }: Shape): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const isWeighted = new Set(weights).size > 1
  for (let draw = 0; draw < draws; draw++) {
    const chance = { seed: sha256(`${name}, ${draw}`), entriesDigest: sha256(`${draw}`), beacon: "" }
    const scoreOf = scoring(chance, isWeighted)
    const scores = weights.map((weight, index) => scoreOf(`${index}`.padStart(26, "0"), weight * 1_000_000))
    const order = weights.map((_, index) => index).toSorted((a, b) => scores[a]! - scores[b]!)
    const outcome = order.slice(0, winners).join()
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  return counts
}

/** Yields every outcome with its chance: the winners one after the other, each by its share of the remaining weight. */
function* outcomes(
  weights: ReadonlyArray<number>,
  winners: number,
  before: ReadonlyArray<number> = [],
  chance = 1
): Generator<readonly [outcome: string, chance: number]> {
  if (before.length === winners) return yield [before.join(), chance]
  const left = weights.reduce((sum, weight, index) => (before.includes(index) ? sum : sum + weight), 0)
  for (const [index, weight] of weights.entries()) {
    if (!before.includes(index)) yield* outcomes(weights, winners, [...before, index], (chance * weight) / left)
  }
}

/** Returns the probability of a deviation at least as large in a fair draw. */
const pOf = (counts: ReadonlyMap<string, number>, { weights, winners }: Shape): number => {
  const expected = [...outcomes(weights, winners)]
  const chiSquare = expected.reduce(
    (sum, [outcome, chance]) => sum + ((counts.get(outcome) ?? 0) - draws * chance) ** 2 / (draws * chance),
    0
  )
  return chiSquareTail(chiSquare, expected.length - 1)
}

describe("a draw is fair", () => {
  for (const shape of shapes) {
    it(`${shape.name}, in ${draws} draws`, () => {
      const counts = drawn(shape)
      assert.strictEqual(
        [...counts.values()].reduce((sum, count) => sum + count, 0),
        draws
      )
      assert.isAbove(pOf(counts, shape), 0.001, JSON.stringify([...counts]))
    })
  }

  it("and the test would detect a chance that is four percent too high", () => {
    const shape = { name: "biased", weights: [1, 1, 1, 1, 1], winners: 1 }
    const counts = new Map([["0", 20_800], ...["1", "2", "3", "4"].map((index) => [index, 19_800] as const)])
    assert.isBelow(pOf(counts, shape), 0.001)
  })
})
