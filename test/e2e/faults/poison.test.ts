import { assert, describe, it } from "@effect/vitest"
import { poisonProof } from "../proofs/PoisonProof.ts"

describe("A mechanism with an unreadable journal", () => {
  for (const nodes of [1, 2]) {
    const where = nodes === 1 ? "in one process" : "on the node that takes it over"
    it(`is parked alone and reported, ${where}, and runs again after the correction`, async () => {
      const figures = await poisonProof({ nodes, seconds: 2 })
      assert.deepStrictEqual(figures.violations, [])
      assert.isAbove(figures.refused, 5)
      assert.isAbove(figures.paceDuring, 10)
    })
  }
})
