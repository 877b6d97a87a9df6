/** The answers to refusals that are the same for every kind of mechanism: 409, by the refusal's tag. */
import type * as Refusals from "../../domain/mechanism/Refusals.ts"
import { Conflict } from "../../api/Errors.ts"

const conflicts = {
  OrderLimitReached: new Conflict({ error: "The limit of orders is reached", code: "DISTRIBUTION_ORDER_LIMIT" }),
  NotEntered: new Conflict({ error: "Not entered", code: "NOT_ENTERED" }),
  AlreadyGranted: new Conflict({ error: "Already granted", code: "ALREADY_GRANTED" }),
  AlreadyBooked: new Conflict({ error: "Another slot is booked already", code: "ALREADY_BOOKED" }),
  SlotFull: new Conflict({ error: "Slot is full", code: "SLOT_FULL" }),
  SlotPast: new Conflict({ error: "Slot has begun", code: "SLOT_PAST" }),
  SlotNotBegun: new Conflict({ error: "Slot has not begun", code: "SLOT_NOT_BEGUN" }),
  GrantLimitReached: new Conflict({
    error: "The consumer has had as many grants as it may have",
    code: "GRANT_LIMIT_REACHED"
  }),
  InvalidGrant: new Conflict({ error: "The token is not this consumer's grant", code: "INVALID_GRANT" }),
  AlreadyCompleted: new Conflict({ error: "The grant has been completed", code: "ALREADY_COMPLETED" }),
  AlreadyRedeemed: new Conflict({ error: "The grant has been redeemed by another checkout", code: "ALREADY_REDEEMED" })
} as const satisfies { readonly [tag in keyof typeof Refusals]?: Conflict }

type FixedTag = keyof typeof conflicts

/** Returns the answer to a refusal with this tag. */
export const conflictOf = (tag: FixedTag): Conflict => conflicts[tag]

/** True for refusals that have such an answer. */
export const isFixed = <E extends { readonly _tag: string }>(
  error: E
): error is Extract<E, { readonly _tag: FixedTag }> => Object.hasOwn(conflicts, error._tag)
