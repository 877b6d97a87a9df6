/**
 * Why an organization denies a place or a grant (completions 3). The reasons that a mechanism gives by itself are its own,
 * and nobody may give them by hand.
 */
import { Schema } from "effect"

/** A reason that an organization's server gives, in every kind of mechanism. */
export const AdminReason = Schema.Literals(["FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION"])
export type AdminReason = typeof AdminReason.Type
