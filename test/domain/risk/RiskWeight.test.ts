/** The weight of the risk: its factor, and the rule that states it. */
import { assert, describe, it } from "@effect/vitest"
import { partMax } from "../../../src/domain/risk/Risk.ts"
import { riskFactor, riskFactorMin, riskRule, sameRiskWeight } from "../../../src/domain/risk/RiskWeight.ts"

const risk = (score: number) => ({ score, reasons: [] })

describe("The weight of the risk", () => {
  it("multiplies by 1 − riskWeight × score", () => {
    assert.strictEqual(riskFactor(0.5, risk(0.5)), 0.75)
    assert.strictEqual(riskFactor(1, risk(0.4)), 0.6)
  })

  it("changes nothing without a weight or without a risk", () => {
    assert.strictEqual(riskFactor(undefined, risk(1)), 1)
    assert.strictEqual(riskFactor(0, risk(1)), 1)
    assert.strictEqual(riskFactor(1, undefined), 1)
  })

  it("never takes away all of a chance", () => {
    assert.strictEqual(riskFactor(1, risk(1)), riskFactorMin)
  })

  it("is the same if it is absent or 0", () => {
    assert.isTrue(sameRiskWeight({}, { riskWeight: 0 }))
    assert.isFalse(sameRiskWeight({}, { riskWeight: 0.1 }))
  })
})

describe("The public rule", () => {
  it("is null while the risk counts for nothing", () => {
    assert.deepStrictEqual(riskRule("draw"), { riskWeight: 0, riskRule: null })
    assert.deepStrictEqual(riskRule("queue", 0), { riskWeight: 0, riskRule: null })
  })

  it("states the formula and every part of the score", () => {
    const { riskWeight, riskRule: rule } = riskRule("draw", 0.3)
    assert.strictEqual(riskWeight, 0.3)
    assert.include(rule, "In the draw")
    assert.include(rule, "1 - 0.3 x its risk score")
    for (const part of Object.values(partMax)) assert.include(rule, `up to ${part / 100}`)
    assert.include(riskRule("queue", 0.3).riskRule, "In the order of the lobby")
  })
})
