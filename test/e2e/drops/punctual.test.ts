import { assert, describe, it } from "@effect/vitest"
import { punctualProof } from "../proofs/PunctualProof.ts"

describe("what time alone brings", () => {
  // It is read out of the database beside the server, which the embedded one does not offer.
  it("comes with nobody calling and never early, be the server running or down at the time", async () => {
    const { violations, lateness } = await punctualProof({ rounds: 1, each: 1, seed: 4, withSlots: false })
    assert.deepStrictEqual(violations, [])
    assert.isAtLeast(lateness.size, 30)
    for (const { name, live, afterReady } of lateness.values()) {
      assert.isNotEmpty(live, name)
      assert.isNotEmpty(afterReady, name)
    }
  })
})
