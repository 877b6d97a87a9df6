import { assert, describe, it } from "@effect/vitest"
import { backupProof } from "../../proofs/BackupProof.ts"

const times = 1
const seed = 20_261_123

describe("a backup under load", () => {
  it("has everything that was answered before it, nothing twice, and restores, also after kills", async () => {
    const figures = await backupProof({ times, seed, workers: 8 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.restored, times)
    assert.isAbove(figures.acknowledged, 0)
    assert.isAbove(figures.events, 0)
  })
})
