/** The settings of a draw. */
import { Schema } from "effect"
import { type SettingProblem, windowProblems } from "../experience/ExperienceWindow.ts"
import { stockId } from "../mechanism/Allocation.ts"
import { admissionExpirationSeconds, count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { RiskWeight } from "../risk/RiskWeight.ts"
import { Timestamp } from "../values/Time.ts"

/** The maximum of consumers in one draw, and so of entries in a proof. */
export const placesMax = 2_000_000

/** The maximum of `loyaltyWeight` with a `riskWeight`: weights are then larger numbers, and these are bounded. */
export const loyaltyWeightMaxWithRisk = 9

/** The settings that an admin sends. The handlers complete absent keys. */
export const Configuration = Schema.Struct({
  name,
  timeZone: Schema.String,
  openAt: Schema.optionalKey(Timestamp),
  /** When entry closes and the list of entries is fixed. */
  closeAt: Timestamp,
  drawAt: Timestamp,
  supportsGuest: Schema.Boolean,
  winnerCount: count(placesMax),
  /** The maximum of entries. */
  capacity: Schema.optionalKey(count(placesMax)),
  admissionExpirationSeconds,
  continueSelectingUntilCompleted: Schema.Boolean,
  loyaltyBiasEnabled: Schema.Boolean,
  /** The weight of an entry is 1 + loyaltyScore × loyaltyWeight. */
  loyaltyWeight: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })),
  /** The weight of an entry is multiplied by 1 − riskWeight × risk score. Absent: 0. */
  riskWeight: Schema.optionalKey(RiskWeight),
  beacon: Schema.optionalKey(Schema.Literal("drand")),
  stockId,
  experienceWindow
})
export type Configuration = typeof Configuration.Type

type Problem = SettingProblem<"closeAt" | "drawAt" | "loyaltyWeight">

/** Returns the contradictions between settings that are valid by themselves. */
export const configurationProblems = (configuration: Configuration): ReadonlyArray<Problem> => {
  const { closeAt, drawAt, loyaltyBiasEnabled, loyaltyWeight, riskWeight = 0 } = configuration
  const problems: Array<Problem> = [...windowProblems(configuration)]
  if (drawAt < closeAt) problems.push({ field: "drawAt", message: "drawAt must not be before closeAt" })
  if (riskWeight > 0 && loyaltyBiasEnabled && loyaltyWeight > loyaltyWeightMaxWithRisk) {
    const message = `loyaltyWeight must be at most ${loyaltyWeightMaxWithRisk} with a riskWeight`
    problems.push({ field: "loyaltyWeight", message })
  }
  return problems
}

/** The configuration before the first `Configured` event. It never closes, and draws no consumer. */
export const unconfigured: Configuration = {
  name: "",
  timeZone: "UTC",
  closeAt: Infinity,
  drawAt: Infinity,
  supportsGuest: false,
  winnerCount: 1,
  continueSelectingUntilCompleted: false,
  loyaltyBiasEnabled: false,
  loyaltyWeight: 1
}
