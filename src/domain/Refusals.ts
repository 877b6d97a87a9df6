/**
 * The typed noes that mechanisms share. A refusal changes nothing; its HTTP status is attached where the API is
 * declared (completions 1).
 */
import { Schema } from "effect"

/** The mechanism does not take entries yet; `opensAt` in milliseconds since the epoch. 423 */
export class NotOpen extends Schema.TaggedError<NotOpen>()("NotOpen", { opensAt: Schema.Finite }) {}

/** The mechanism takes no more entries, or its configuration is fixed for good. 409 `CLOSED` */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {}

/** As many wait as may wait. 409 `QUEUE_FULL`; a place may be free after `retryAfterSeconds`. */
export class Full extends Schema.TaggedError<Full>()("Full", { retryAfterSeconds: Schema.Int }) {}

/** Guests may not enter this mechanism. 403 */
export class GuestsRefused extends Schema.TaggedError<GuestsRefused>()("GuestsRefused", {}) {}

/** The consumer's place is not in a status that allows the command; `status` is the one it has. 409 `INVALID_STATUS` */
export class WrongStatus extends Schema.TaggedError<WrongStatus>()("WrongStatus", { status: Schema.String }) {}

/** A setting that cannot change any more, by name. 409 `CONFIGURATION_FIXED` */
export class ConfigurationFixed extends Schema.TaggedError<ConfigurationFixed>()("ConfigurationFixed", {
  setting: Schema.String
}) {}

/** Every grant the mechanism may make over its life has been made. 409 `ADMISSIONS_USED_UP` */
export class AdmissionsUsedUp extends Schema.TaggedError<AdmissionsUsedUp>()("AdmissionsUsedUp", {}) {}
