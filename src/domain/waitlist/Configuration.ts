/** The settings of a waitlist. */
import { Schema } from "effect"
import { type SettingProblem, windowProblems } from "../experience/ExperienceWindow.ts"
import { stockId } from "../mechanism/Allocation.ts"
import { admissionExpirationSeconds, count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { Timestamp } from "../values/Time.ts"

/** The settings that an admin sends. The handlers complete absent keys. */
export const Configuration = Schema.Struct({
  name,
  timeZone: Schema.String,
  /** Absent in configurations from before it existed: true. */
  supportsGuest: Schema.optionalKey(Schema.Boolean),
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  /** The maximum of members at once. */
  capacity: Schema.optionalKey(count(100_000_000)),
  /** Members get a grant for a unit of the stock, in the order in which they entered. Absent: false. */
  offers: Schema.optionalKey(Schema.Boolean),
  admissionExpirationSeconds,
  stockId,
  experienceWindow
})
export type Configuration = typeof Configuration.Type

/** The time to use an offer, if an admin sets none. */
export const offerSeconds = 3_600

type Problem = SettingProblem<"closeAt" | "offers" | "stockId" | "admissionExpirationSeconds">

/** Returns the contradictions between settings that are valid by themselves. */
export const configurationProblems = (configuration: Configuration): ReadonlyArray<Problem> => {
  const { offers = false, stockId, admissionExpirationSeconds } = configuration
  const problems: Array<Problem> = [...windowProblems(configuration)]
  if (offers && stockId === undefined) {
    problems.push({ field: "offers", message: "offers needs a stockId: a waitlist offers units of a stock" })
  }
  if (!offers && stockId !== undefined) {
    problems.push({ field: "stockId", message: "stockId needs offers" })
  }
  if (!offers && admissionExpirationSeconds !== undefined) {
    problems.push({ field: "admissionExpirationSeconds", message: "admissionExpirationSeconds needs offers" })
  }
  return problems
}

/** The configuration before the first `Configured` event. */
export const unconfigured: Configuration = { name: "", timeZone: "UTC" }
