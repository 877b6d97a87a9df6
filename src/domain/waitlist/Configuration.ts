/**
 * What an admin sets on a waitlist (interface document 2.8; completions 4, "waitlist").
 */
import { Schema } from "effect"
import { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import { Timestamp } from "../values/Time.ts"

/** What an admin sets. Absent keys mean what completions 3 and 4 ("waitlist") say they mean. */
export const Configuration = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)),
  timeZone: Schema.String,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  /** Most members at once. */
  capacity: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000_000 }))),
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
export const unconfigured: Configuration = { name: "", timeZone: "UTC" }
