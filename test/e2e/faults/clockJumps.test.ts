import { assert, describe, it } from "@effect/vitest"
import { clockJumpsProof, mostInASecondMax } from "../proofs/ClockJumpsProof.ts"

describe("A clock that jumps", () => {
  it("causes no early transition, loses no timer, and admits no consumer faster", async () => {
    const figures = await clockJumpsProof()
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.jumps, 3)
    assert.isAtLeast(figures.lateMillis.length, 15)
    assert.isAtMost(figures.mostInASecond, mostInASecondMax)
    assert.isAbove(figures.grants, 0)
  })
})
