/** The settings of a timed release. */
import { Schema } from "effect"
import { stockId } from "../mechanism/Allocation.ts"
import { admissionExpirationSeconds, count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { GrantsPerConsumer } from "../mechanism/GrantRecord.ts"
import { Id } from "../values/Ids.ts"
import { Timestamp } from "../values/Time.ts"

/** The maximum of variants in one timed release. */
export const variantsMax = 1_000

/** The settings that an admin sends. The handlers complete absent keys. */
export const Configuration = Schema.Struct({
  name,
  timeZone: Schema.String,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  supportsGuest: Schema.Boolean,
  /**
   * The number of units. A completed grant holds one, and so does one that is neither expired, denied nor left. Absent:
   * no limit.
   */
  capacity: Schema.optionalKey(count(100_000_000)),
  admissionExpirationSeconds,
  /** Grants that one consumer may have, one after another. Absent: no limit, but none after a completed one. */
  grantsPerConsumer: Schema.optionalKey(GrantsPerConsumer),
  /** The variants that consumers may select. Absent: any variant that the experience offers. */
  variantIds: Schema.optionalKey(Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(variantsMax))),
  stockId,
  experienceWindow
})
export type Configuration = typeof Configuration.Type

/** The configuration before the first `Configured` event. */
export const unconfigured: Configuration = { name: "", timeZone: "UTC", supportsGuest: false }
