import { assert, describe, it } from "@effect/vitest"
import { advanceProblem, progressOf, statusOf, type TestClock } from "../../../src/domain/organization/TestClock.ts"
import { latest } from "../../../src/domain/values/Time.ts"

const day = 86_400_000
const from = Date.parse("2030-01-01T00:00:00Z")
const clock: TestClock = { organizationId: "brand", frozenAt: from, seed: "a", webhookIds: [] }
const advance = { from, to: from + 8 * day }

describe("A test clock", () => {
  it("is ready, is advanced, or has failed to be", () => {
    assert.strictEqual(statusOf(clock), "READY")
    assert.strictEqual(statusOf({ ...clock, advance }), "ADVANCING")
    assert.strictEqual(statusOf({ ...clock, advance, problem: "the queue has not acted" }), "FAILED")
  })

  it("has done a share of its advance, which is 1 at its end alone", () => {
    assert.isUndefined(progressOf(clock))
    const shareAt = (frozenAt: number) => progressOf({ ...clock, advance, frozenAt })
    assert.deepStrictEqual([from, from + day, advance.to - 1, advance.to].map(shareAt), [0, 0.125, 0.999, 1])
    assert.strictEqual(progressOf({ ...clock, advance: { from, to: from } }), 1)
  })

  it("goes forward only, by at most 731 days, and not beyond the last instant", () => {
    assert.isUndefined(advanceProblem(from, from))
    assert.isUndefined(advanceProblem(from, from + 731 * day))
    assert.match(advanceProblem(from, from - 1)!, /not before/)
    assert.match(advanceProblem(from, from + 731 * day + 1)!, /731 days/)
    assert.match(advanceProblem(latest - day, latest + 1)!, /731 days/)
  })
})
