import { assert, describe, it } from "@effect/vitest"
import { clockJumpsProof, mostInASecondMax } from "../proofs/ClockJumpsProof.ts"

describe("A clock that is wrong, or jumps", () => {
  it("causes no early transition, delays no timer by a second, and admits no consumer faster", async () => {
    const figures = await clockJumpsProof()
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.jumps, 3)
    assert.strictEqual(figures.lateMillis.length, 10)
    assert.isAtMost(Math.max(...figures.lateMillis), 1_000)
    assert.strictEqual(figures.untouched, 15)
    assert.isAtMost(figures.mostInASecond, mostInASecondMax)
    assert.isAbove(figures.grants, 0)
  })
})
