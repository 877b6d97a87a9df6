/** The settings of a waitlist. */
import { Schema } from "effect"
import { count, experienceWindow, name } from "../mechanism/Configuring.ts"
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
  experienceWindow
})
export type Configuration = typeof Configuration.Type

/** The configuration before the first `Configured` event. */
export const unconfigured: Configuration = { name: "", timeZone: "UTC" }
