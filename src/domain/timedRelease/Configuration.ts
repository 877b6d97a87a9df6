/**
 * What an admin sets on a timed release (completions 3, "Timed release", and 4, "timed release").
 */
import { Schema } from "effect"
import { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import { Id } from "../values/Ids.ts"
import { Timestamp } from "../values/Time.ts"

/** Variants one timed release can offer. */
export const variantsMax = 1_000

const count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** What an admin sets. Absent keys mean what completions 3 and 4 ("timed release") say they mean. */
export const Configuration = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)),
  timeZone: Schema.String,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  supportsGuest: Schema.Boolean,
  /** Units to be had: grants not yet expired, denied or left, and those completed. Absent: unlimited. */
  capacity: Schema.optionalKey(count(100_000_000)),
  admissionExpirationSeconds: Schema.optionalKey(count(31_536_000)),
  /** What consumers may select from; absent: any variant that the experience offers. */
  variantIds: Schema.optionalKey(Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(variantsMax))),
  /** The experience's own times, which bound these: see ExperienceWindow.ts. No admin sets it here. */
  experienceWindow: Schema.optionalKey(ExperienceWindow)
})
export type Configuration = typeof Configuration.Type

/** A setting that makes no sense beside another one. */
export interface ConfigurationProblem {
  readonly field: "closeAt"
  readonly message: string
}

/** What is wrong between the settings, each of which is in range by itself; empty if nothing is. */
export const configurationProblems = ({ openAt, closeAt }: Configuration): ReadonlyArray<ConfigurationProblem> =>
  openAt !== undefined && closeAt !== undefined && closeAt <= openAt
    ? [{ field: "closeAt", message: "closeAt must be after openAt" }]
    : []

/** What stands before the first `Configured` event. */
export const unconfigured: Configuration = { name: "", timeZone: "UTC", supportsGuest: false }
