/**
 * The reasons with which an organization denies a place or a grant. Other reasons belong to the mechanisms: no admin
 * can send them.
 */
import { Schema } from "effect"

/** A reason that an organization's server sends, in every kind of mechanism. */
export const AdminReason = Schema.Literals(["FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION"])
export type AdminReason = typeof AdminReason.Type

/**
 * The reasons of a server that events may hold. Only a queue still takes `ORDER_LIMIT_EXCEEDED`: elsewhere, old events
 * have it.
 */
export const recordedReasons = ["ORDER_LIMIT_EXCEEDED", ...AdminReason.literals] as const
