/** A draw that weighs the risk of its entries: its weights, its proof, and what stays fixed. */
import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { configurationProblems } from "../../../src/domain/draw/Configuration.ts"
import { decider, type Event } from "../../../src/domain/draw/Draw.ts"
import { decodeProof, type Proof } from "../../../src/domain/draw/proof/Proof.ts"
import { verify } from "../../../src/domain/draw/proof/Verification.ts"
import type { Risk } from "../../../src/domain/risk/Risk.ts"
import { riskRule } from "../../../src/domain/risk/RiskWeight.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { at, configuration, configure, entered, given, type History } from "./history.ts"

const risky = (score: number): Risk => ({ score, reasons: ["SHARED_ADDRESS"] })
const enteredWith = (consumerId: string, score: number, loyaltyScore = 0): Event => ({
  ...(entered(1, consumerId) as Extract<Event, { _tag: "Entered" }>),
  risk: risky(score),
  ...(loyaltyScore > 0 && { loyaltyScore })
})

const proofOf = (draw: History): Proof =>
  Result.getOrThrow(decodeProof(JSON.parse([...decider.facts!(draw.state, at(300)).proof!("draw")].join(""))))

const weightsOf = (draw: History): { readonly [consumerId: string]: number | undefined } => {
  const { entries } = proofOf(draw)
  return Object.fromEntries(
    [...draw.state.places.keys()].map((consumerId) => [
      consumerId,
      entries.find(({ id }) => id === draw.entryId(consumerId))?.weight
    ])
  )
}

describe("A draw with a riskWeight", () => {
  const entries = [entered(1, "ada"), enteredWith("bob", 0.5), enteredWith("eve", 1)]

  it("multiplies the weight by 1 − riskWeight × score, and by a hundredth at least", () => {
    const half = given({ riskWeight: 0.5 }, entries)
    half.until(200)
    assert.deepStrictEqual(weightsOf(half), { ada: 100_000_000, bob: 75_000_000, eve: 50_000_000 })
    const whole = given({ riskWeight: 1 }, entries)
    whole.until(200)
    assert.deepStrictEqual(weightsOf(whole), { ada: 100_000_000, bob: 50_000_000, eve: 1_000_000 })
  })

  it("multiplies the weight of loyalty too, up to the greatest weight that a proof has", () => {
    const settings = { riskWeight: 0.5, loyaltyBiasEnabled: true, loyaltyWeight: 9 }
    const draw = given(settings, [enteredWith("ada", 0, 1), enteredWith("bob", 0.5, 0.5)])
    draw.until(200)
    assert.deepStrictEqual(weightsOf(draw), { ada: 1_000_000_000, bob: 412_500_000 })
    assert.isTrue(verify(proofOf(draw), Option.none()).isValid)
  })

  it("has a proof that states the rule and verifies, and one without it that does not", () => {
    const draw = given({ riskWeight: 0.5, winnerCount: 2 }, entries)
    draw.until(200)
    const proof = proofOf(draw)
    assert.strictEqual(proof.riskRule, riskRule("draw", 0.5).riskRule)
    assert.isTrue(verify(proof, Option.none()).isValid)
    const equal = proof.entries.map((entry) => ({ ...entry, weight: 100_000_000 }))
    assert.isFalse(verify({ ...proof, entries: equal }, Option.none()).isValid)
  })

  it("draws an entry less often the more its risk counts", () => {
    const rounds = 400
    let wins = 0
    for (let round = 0; round < rounds; round++) {
      const draw = given({ riskWeight: 1 })
      // The ids of the entries follow from the salt.
      draw.state.salt = `${round}`.padStart(32, "0")
      for (const event of [entered(1, "ada"), enteredWith("bob", 0.75)]) draw.apply(event)
      draw.until(200)
      if (draw.winners[0] === "bob") wins++
    }
    // The chance is 0.25 / 1.25, and the bounds are five standard deviations.
    assert.approximately(wins, rounds / 5, 40)
  })

  it("keeps it from the first entry on", () => {
    const draw = given({ riskWeight: 0.5 })
    assert.lengthOf(draw.when(1, configure({ riskWeight: 0.6 })) as ReadonlyArray<Event>, 1)
    draw.enter(2, "ada")
    assertRefused(draw.when(3, configure({ riskWeight: 0.5 })), "ConfigurationFixed", { setting: "riskWeight" })
    assertRefused(draw.when(3, configure({})), "ConfigurationFixed", { setting: "riskWeight" })
  })

  it("allows a loyaltyWeight of 9 at most", () => {
    const problems = (riskWeight: number, loyaltyWeight: number, loyaltyBiasEnabled = true) =>
      configurationProblems(configuration({ riskWeight, loyaltyWeight, loyaltyBiasEnabled })).map(({ field }) => field)
    assert.deepStrictEqual(problems(0.1, 9.5), ["loyaltyWeight"])
    assert.deepStrictEqual(problems(0.1, 9), [])
    assert.deepStrictEqual(problems(0, 1_000), [])
    assert.deepStrictEqual(problems(0.1, 1_000, false), [])
  })
})

describe("A draw without a riskWeight", () => {
  it("records risks and weighs every entry the same", () => {
    const draw = given({}, [entered(1, "ada"), enteredWith("bob", 1)])
    draw.until(200)
    assert.deepStrictEqual(weightsOf(draw), { ada: 1_000_000, bob: 1_000_000 })
    assert.isUndefined(proofOf(draw).riskRule)
  })
})
