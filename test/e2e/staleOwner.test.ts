import { assert, describe, it } from "@effect/vitest"
import * as TestDatabase from "../store/TestDatabase.ts"
import { staleOwnerProof } from "./StaleOwnerProof.ts"

describe.skipIf(!TestDatabase.serverAnswers)(TestDatabase.title("A node that sleeps too long"), () => {
  it("finds its writes refused when it wakes up, and shows nothing old", async () => {
    const figures = await staleOwnerProof({ rounds: 1, seed: 7 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.lost, 0)
    assert.isAbove(figures.refused, 0)
    assert.isAbove(figures.asked, 0)
    assert.isAbove(figures.acknowledged, 50)
  }, 120_000)
})
