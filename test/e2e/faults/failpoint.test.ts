import { assert, describe, it } from "@effect/vitest"
import { failpointProof } from "../proofs/FailpointProof.ts"

describe("a crash between deciding, committing, answering and writing places", () => {
  it("shows no uncommitted state and loses nothing acknowledged", async () => {
    const figures = await failpointProof({ each: 1, seed: 8, workers: 12 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.lost, 0)
    assert.deepStrictEqual(figures.fired, { decided: 1, committed: 1, answered: 1, placesTaken: 1, placesWritten: 1 })
    assert.isAbove(figures.acknowledged, 0)
    assert.isAbove(figures.reads, 0)
  })
})
