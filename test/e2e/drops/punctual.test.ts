import { assert, describe, it } from "@effect/vitest"
import { punctualProof } from "../proofs/PunctualProof.ts"

describe("timed transitions", () => {
  // The proof reads the database while the server runs, and the embedded database does not allow that.
  it("happen without a request and never early, whether the server runs or is down at the time", async () => {
    const { violations, lateness } = await punctualProof({ rounds: 1, each: 1, seed: 4, withSlots: false })
    assert.deepStrictEqual(violations, [])
    assert.isAtLeast(lateness.size, 30)
    for (const { name, live, afterReady } of lateness.values()) {
      assert.isNotEmpty(live, name)
      assert.isNotEmpty(afterReady, name)
    }
  })
})
