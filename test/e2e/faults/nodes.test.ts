import { assert, describe, it } from "@effect/vitest"
import { nodesProof } from "../proofs/NodesProof.ts"

describe("Nodes under load", () => {
  it("lose nothing when one is killed and one leaves, and take over its mechanisms", async () => {
    const figures = await nodesProof({ nodes: 2, seconds: 1, leaves: 1, seed: 7, workers: 6 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.lost, 0)
    assert.strictEqual(figures.inversions, 0)
    assert.deepStrictEqual([figures.kills, figures.killsBetween, figures.leaves, figures.streams], [1, 1, 1, 6])
    assert.isAbove(figures.acknowledged, 0)
    assert.isAbove(figures.waits.kill.length, 0)
    assert.isAbove(figures.waits.leave.length, 0)
    assert.isAbove(figures.late.kill.length, 0)
  })
})
