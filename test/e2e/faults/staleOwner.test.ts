import { assert, describe, it } from "@effect/vitest"
import { staleOwnerProof } from "../proofs/StaleOwnerProof.ts"

const roundsMax = 6

describe("A node that sleeps too long", () => {
  it("finds its writes refused when it wakes up, and shows nothing old", async () => {
    let refused = 0
    // Whether the node was about to write when it fell asleep is chance.
    for (let seed = 7; refused === 0 && seed < 7 + roundsMax; seed++) {
      const figures = await staleOwnerProof({ rounds: 1, seed })
      assert.deepStrictEqual(figures.violations.slice(0, 10), [])
      assert.strictEqual(figures.lost, 0)
      assert.isAbove(figures.asked, 0)
      assert.isAbove(figures.acknowledged, 50)
      refused += figures.refused
    }
    assert.isAbove(refused, 0)
  })
})
