import { assert, describe, it } from "@effect/vitest"
import { retryProof } from "../proofs/RetryProof.ts"

describe("a request whose connection is cut", () => {
  it("can be repeated without a second effect", async () => {
    const figures = await retryProof({ cuts: 400, seed: 3 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.duplicates, 0)
    assert.isAtLeast(figures.cut, 400)
    assert.isAbove(figures.effective, 0)
  })
})
