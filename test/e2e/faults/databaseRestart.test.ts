import { assert, describe, it } from "@effect/vitest"
import { databaseRestartProof } from "../proofs/DatabaseRestartProof.ts"

describe("a database restart under load", () => {
  for (const [nodes, restarts] of [
    [1, 1],
    [2, 2]
  ] as const) {
    it(`loses nothing that ${nodes === 1 ? "a single process" : `${nodes} nodes`} acknowledged, and causes no 500`, async () => {
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
