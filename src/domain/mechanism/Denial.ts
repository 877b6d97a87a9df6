/**
 * The reasons with which an organization denies a place or a grant (completions 3). Other reasons belong to the
 * mechanisms: no admin can send them.
 */
import { Schema } from "effect"

/** A reason that an organization's server sends, in every kind of mechanism. */
export const AdminReason = Schema.Literals(["FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION"])
export type AdminReason = typeof AdminReason.Type
