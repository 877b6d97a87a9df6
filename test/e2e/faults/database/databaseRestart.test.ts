import { assert, describe, it } from "@effect/vitest"
import { databaseRestartProof } from "../../proofs/DatabaseRestartProof.ts"

describe("a database restart under load", () => {
  it("loses nothing that two nodes acknowledged, and causes no 500", async () => {
    const figures = await databaseRestartProof({ nodes: 2, restarts: 1, restartSeconds: 4, seed: 12, workers: 4 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.lost, 0)
    assert.strictEqual(figures.inversions, 0)
    assert.strictEqual(figures.restarts, 1)
    assert.isAbove(figures.acknowledged, 0)
    assert.isAbove(figures.postponed, 0)
  })
})
