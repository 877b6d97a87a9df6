import { assert, describe, it } from "@effect/vitest"
import { staleOwnerProof } from "../proofs/StaleOwnerProof.ts"

const roundsMax = 6

describe("A node that is suspended too long", () => {
  it("has its writes refused when it resumes, and shows no stale state", async () => {
    let refused = 0
    // Chance decides whether a write of the node is in flight when it is suspended.
    for (let seed = 7; refused === 0 && seed < 7 + roundsMax; seed++) {
      const figures = await staleOwnerProof({ rounds: 1, seed, workers: 5 })
      assert.deepStrictEqual(figures.violations.slice(0, 10), [])
      assert.strictEqual(figures.lost, 0)
      assert.isAbove(figures.received, 0)
      assert.isAbove(figures.acknowledged, 0)
      refused += figures.refused
    }
    assert.isAbove(refused, 0)
  })
})
