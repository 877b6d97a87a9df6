import { assert, describe, it } from "@effect/vitest"
import { poisonProof } from "../proofs/PoisonProof.ts"

describe("A mechanism with an unreadable journal", () => {
  it("is parked alone and reported on the node that takes it over, and runs again after the correction", async () => {
    const figures = await poisonProof({ nodes: 2, seconds: 2 })
    assert.deepStrictEqual(figures.violations, [])
    assert.isAbove(figures.refused, 0)
    assert.isAbove(figures.paceDuring, 0)
  })
})
