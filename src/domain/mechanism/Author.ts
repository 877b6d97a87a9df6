/**
 * The author of an action on a consumer's place or a mechanism, and the reason. Events that a consumer or time causes
 * have no author.
 */
import { Schema } from "effect"

/**
 * The name of the author: an API key, or a person of the dashboard. Absent if the consumer or time did it. Events from
 * before authors were recorded say `operator`.
 */
export const by = Schema.optionalKey(Schema.String)

/**
 * The reason that staff give for an action. It is a code, because events are kept permanently and consumers see it.
 * Free text could name a consumer that is erased later, and is not translated. The audit log has room for notes.
 */
export const StaffReason = Schema.Literals([
  "TECHNICAL_PROBLEM",
  "HIGH_LOAD",
  "STOCK_CHANGED",
  "SUSPECTED_ABUSE",
  "CUSTOMER_CARE",
  "SCHEDULE_CHANGED",
  "OTHER"
])
export type StaffReason = typeof StaffReason.Type

/** The reason in an event; absent if none was given. */
export const reason = Schema.optionalKey(StaffReason)

/** Returns the `reason` field; empty if there is none. */
export const reasoned = (given: StaffReason | undefined): { readonly reason?: StaffReason } =>
  given === undefined ? {} : { reason: given }

/** Returns the `by` field; empty if there is no author. */
export const authored = (author: string | undefined): { readonly by?: string } =>
  author === undefined ? {} : { by: author }
