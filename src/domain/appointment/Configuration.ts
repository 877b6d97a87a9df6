/** The settings of an appointment. */
import { Schema } from "effect"
import { type SettingProblem, windowProblems } from "../experience/ExperienceWindow.ts"
import { count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { Id } from "../values/Ids.ts"
import { Timestamp } from "../values/Time.ts"
import { dayMillis } from "../values/WallClock.ts"
import { Hours, hoursProblem } from "./Hours.ts"

/** The maximum of days from `slotsFrom` to `slotsUntil`: ten years. */
export const slotsDaysMax = 3_660

const minutes = (minimum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum: 1_440 }))

/** The settings that an admin sends. The handlers complete absent keys. */
export const Configuration = Schema.Struct({
  name,
  timeZone: Schema.String,
  /** Absent in configurations from before it existed: true. */
  supportsGuest: Schema.optionalKey(Schema.Boolean),
  /** When consumers may book, as in every mechanism. The slots themselves are between `slotsFrom` and `slotsUntil`. */
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  slotsFrom: Timestamp,
  slotsUntil: Timestamp,
  hours: Hours,
  slotDurationMinutes: minutes(1),
  bufferMinutes: minutes(0),
  maxCapacityPerSlot: count(1_000_000),
  locationId: Schema.optionalKey(Id),
  experienceWindow
})
export type Configuration = typeof Configuration.Type

type Problem = SettingProblem<"closeAt" | "slotsUntil" | "hours">

/** Returns the settings that are not valid, and the contradictions between settings that are. */
export const configurationProblems = (configuration: Configuration): ReadonlyArray<Problem> => {
  const { slotsFrom, slotsUntil, hours, slotDurationMinutes } = configuration
  const problems: Array<Problem> = [...windowProblems(configuration)]
  if (slotsUntil <= slotsFrom) problems.push({ field: "slotsUntil", message: "slotsUntil must be after slotsFrom" })
  if (slotsUntil - slotsFrom > slotsDaysMax * dayMillis) {
    problems.push({ field: "slotsUntil", message: `slotsUntil must be at most ${slotsDaysMax} days after slotsFrom` })
  }
  const message = hoursProblem(hours, slotDurationMinutes)
  if (message !== undefined) problems.push({ field: "hours", message })
  return problems
}

/** The configuration before the first `Configured` event. It has no slots. */
export const unconfigured: Configuration = {
  name: "",
  timeZone: "UTC",
  slotsFrom: 0,
  slotsUntil: 0,
  hours: {},
  slotDurationMinutes: 1,
  bufferMinutes: 0,
  maxCapacityPerSlot: 1
}
