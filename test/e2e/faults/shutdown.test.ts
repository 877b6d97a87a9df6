import { assert, describe, it } from "@effect/vitest"
import { shutdownProof } from "../proofs/ShutdownProof.ts"

describe("a server that receives SIGTERM under load", () => {
  it("completes requests in flight, reports that it is not ready, and exits with success", async () => {
    const figures = await shutdownProof({ rounds: 2, seed: 18 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.failed, 0)
    assert.strictEqual(figures.lost, 0)
    assert.isAbove(figures.inFlight, 0)
    assert.strictEqual(figures.ended, figures.streams)
    assert.strictEqual(figures.streams, 40)
    assert.isAbove(figures.seenDraining, 0)
  })
})
