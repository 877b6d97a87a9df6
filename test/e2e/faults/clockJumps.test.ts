import { assert, describe, it } from "@effect/vitest"
import { clockJumpsProof, mostInASecondMax } from "../proofs/ClockJumpsProof.ts"

describe("A clock that jumps", () => {
  it("brings nothing before its time, forgets no timer, and lets nobody in faster", async () => {
    const figures = await clockJumpsProof()
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.jumps, 3)
    assert.isAtLeast(figures.lateMillis.length, 15)
    assert.isAtMost(figures.mostInASecond, mostInASecondMax)
    assert.isAbove(figures.grants, 20)
  })
})
