/**
 * What an admin sets on a waitlist (interface document 2.8; completions 4, "waitlist").
 */
import { Schema } from "effect"
import { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import { Timestamp } from "../values/Time.ts"

/** What an admin sets. Completions 3 and 4 ("waitlist") define the defaults of absent keys. */
export const Configuration = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)),
  timeZone: Schema.String,
  /** Absent in configurations from before it existed: true. */
  supportsGuest: Schema.optionalKey(Schema.Boolean),
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  /** The maximum of members at once. */
  capacity: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000_000 }))),
  /** The experience's own window, which bounds this one: see ExperienceWindow.ts. Admins do not set it here. */
  experienceWindow: Schema.optionalKey(ExperienceWindow)
})
export type Configuration = typeof Configuration.Type

/** The configuration before the first `Configured` event. */
export const unconfigured: Configuration = { name: "", timeZone: "UTC" }
