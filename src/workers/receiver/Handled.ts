/** The result of an attempt to handle a received event. */
import type { Outcome } from "../../domain/receiver/Receiver.ts"

/** The effect of an event; `again` if it may come to more later, since events arrive in any order. */
export type Handled =
  | { readonly _tag: "Done" | "Ignored"; readonly outcome: Outcome }
  | { readonly _tag: "NeedsAttention"; readonly outcome: Outcome; readonly orderId?: string }
  | { readonly _tag: "Again"; readonly outcome: Outcome; readonly attemptsMax: number; readonly last: Handled }

export const done = (outcome: Outcome): Handled => ({ _tag: "Done", outcome })
export const ignored = (outcome: Outcome): Handled => ({ _tag: "Ignored", outcome })

/** A person has to look at it. */
export const needsAttention = (outcome: Outcome, orderId?: string): Handled => ({
  _tag: "NeedsAttention",
  outcome,
  ...(orderId !== undefined && { orderId })
})

/** Another event may have to come first. After so many attempts, `last` is the result. */
export const again = (attemptsMax: number, last: Handled): Handled => ({
  _tag: "Again",
  outcome: last.outcome,
  attemptsMax,
  last
})
