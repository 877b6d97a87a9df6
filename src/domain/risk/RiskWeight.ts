/**
 * How a draw and a queue's lobby may weigh the risk of entries. It is off unless an admin sets `riskWeight`. The public
 * view states the rule, so it is never hidden.
 */
import { Schema } from "effect"
import { accountAgeMillisFull, addressEntriesFree, networkEntriesFree, noRisk, partMax, type Risk } from "./Risk.ts"

/** How much the risk counts, 0 (not at all) to 1. An entry's weight is multiplied by 1 − riskWeight × score. */
export const RiskWeight = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** The least factor. A risk is a suspicion, so it never takes away all of a consumer's chance. */
export const riskFactorMin = 0.01

/** Returns the factor of an entry's weight: 0.01 to 1. */
export const riskFactor = (riskWeight = 0, { score }: Risk = noRisk): number =>
  Math.max(riskFactorMin, 1 - riskWeight * score)

/** A mechanism that may weigh the risk. */
interface Weighing {
  readonly riskWeight?: number
}

/** True if both weigh the risk in the same way. Absent: 0. */
export const sameRiskWeight = (a: Weighing, b: Weighing): boolean => (a.riskWeight ?? 0) === (b.riskWeight ?? 0)

/** Returns the public fields about the weight: its number, and the rule in words; null if it is off. */
export const riskRule = (kind: string, riskWeight = 0) => ({
  riskWeight,
  riskRule: riskWeight === 0 ? null : ruleOf(kind, riskWeight)
})

/** The same in the schema of a public view. */
export const riskRuleFields = {
  riskWeight: RiskWeight,
  /** Null if the risk counts for nothing. */
  riskRule: Schema.NullOr(Schema.String)
}

/** The rule in words, for a kind of mechanism. */
export const ruleOf = (kind: string, riskWeight: number): string =>
  `In ${kind === "draw" ? "the draw" : "the order of the lobby"}, the weight of an entry is multiplied by 1 - ` +
  `${riskWeight} x its risk score, and by at least ${riskFactorMin}. The score is fixed at the entry. It is 0 to ` +
  `1, the sum of these parts: up to ${share("SHARED_ADDRESS")} if more than ${addressEntriesFree} other consumers ` +
  `recently entered from its address, up to ${share("SHARED_NETWORK")} if more than ${networkEntriesFree} did from ` +
  `its network, up to ${share("FAST_CHALLENGE")} if its challenge was solved faster than a browser can, up to ` +
  `${share("NEW_ACCOUNT")} if its account was younger than ${accountAgeMillisFull / 1000} seconds.`

const share = (reason: keyof typeof partMax): string => (partMax[reason] / 100).toFixed(1)
