import { assert, describe, it } from "@effect/vitest"
import { StatementOutcomes } from "../../src/measures/StatementOutcomes.ts"

describe("the database counts as taking no writes", () => {
  it("from the third failure in a row, with its cause in words", () => {
    for (const [cause, words] of [
      ["no_space", "writes fail: no space is left on its disk"],
      ["read_only", "writes fail: it is read-only"],
      ["permission", "writes fail: its user may not do that"],
      ["connections", "writes fail: it has no connection left"],
      ["starting", "writes fail: it is starting or stopping"]
    ] as const) {
      const outcomes = new StatementOutcomes()
      for (const at of [1_000, 1_100]) {
        outcomes.failed(cause, at)
        assert.isUndefined(outcomes.problem(at))
      }
      outcomes.failed(cause, 1_200)
      assert.strictEqual(outcomes.problem(1_200), words)
    }
  })

  it("until a write has succeeded", () => {
    const outcomes = new StatementOutcomes()
    for (let at = 0; at < 5; at++) outcomes.failed("no_space", at)
    outcomes.written()
    assert.isUndefined(outcomes.problem(5))
    outcomes.failed("no_space", 6)
    assert.isUndefined(outcomes.problem(6))
  })

  it("for ten seconds without further writes, which says nothing afterwards", () => {
    const outcomes = new StatementOutcomes()
    for (let at = 0; at < 3; at++) outcomes.failed("other", at)
    assert.isDefined(outcomes.problem(10_001))
    assert.isUndefined(outcomes.problem(10_002))
    outcomes.failed("other", 10_002)
    assert.isUndefined(outcomes.problem(10_002), "the failures before are long ago")
  })

  it("not for slow statements, which are counted all the same", () => {
    const outcomes = new StatementOutcomes()
    for (let at = 0; at < 9; at++) outcomes.failed("too_slow", at)
    assert.isUndefined(outcomes.problem(9))
    assert.deepInclude(outcomes.failures.entries(), ["too_slow", 9])
    assert.deepInclude(outcomes.failures.entries(), ["no_space", 0], "each cause has a series from the start")
  })
})
