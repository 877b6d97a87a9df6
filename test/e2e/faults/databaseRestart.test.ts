import { assert, describe, it } from "@effect/vitest"
import { databaseRestartProof } from "../proofs/DatabaseRestartProof.ts"

describe("a database that is restarted under load", () => {
  for (const [nodes, restarts] of [
    [1, 1],
    [2, 2]
  ] as const) {
    it(`costs ${nodes === 1 ? "a single process" : `${nodes} nodes`} nothing that was acknowledged, and nobody gets a 500`, async () => {
      const figures = await databaseRestartProof({ nodes, restarts, restartSeconds: 5, seed: 12 })
      assert.deepStrictEqual(figures.violations.slice(0, 10), [])
      assert.strictEqual(figures.lost, 0)
      assert.strictEqual(figures.inversions, 0)
      assert.strictEqual(figures.restarts, restarts)
      assert.isAbove(figures.acknowledged, 100)
      assert.isAbove(figures.postponed, 0)
    })
  }
})
