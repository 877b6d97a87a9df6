/** The meaning of providers' events for Usher. */
import { Schema } from "effect"
import type { NamedGrant } from "../mechanism/GrantName.ts"
import { type Amount, ofText, type Price } from "../values/Amount.ts"

/** A payment that has succeeded. */
export interface Paid {
  readonly _tag: "Paid"
  /** Undefined if the checkout has no reference, or another one. */
  readonly grant: NamedGrant | undefined
  /** The provider's id of the checkout. An order that is made for it has it as `externalId`. */
  readonly checkoutId: string
  /** The provider's id of the payment, which its refund names too. */
  readonly paymentId: string | undefined
  readonly amount: Price
  readonly currencyCode: string
  /** The parts of the amount besides the price of the goods. A discount has lowered it. */
  readonly adjustments: { readonly [A in Adjustment]: Amount }
}

/** The parts of a checkout's amount besides the price of the goods. */
export const Adjustment = Schema.Literals(["SHIPPING", "TAX", "DISCOUNT"])
export type Adjustment = typeof Adjustment.Type

/** An amount that is asked. */
export interface Asked {
  readonly amount: Price
  readonly currencyCode: string
}

/**
 * True if a payment is worth what is asked. It may also differ by the adjustments that the shop allows. If nothing is
 * known of the price, every payment is worth it.
 */
export const isWorth = (
  { amount, currencyCode, adjustments }: Paid,
  asked: Asked | undefined,
  allowed: ReadonlyArray<Adjustment>
): boolean => {
  if (asked === undefined) return true
  const paid = ofText(amount)
  const signed = { ...adjustments, DISCOUNT: -adjustments.DISCOUNT }
  const adjusted = [...new Set(allowed)].reduce((rest, adjustment) => rest - signed[adjustment], paid)
  const price = ofText(asked.amount)
  return currencyCode === asked.currencyCode && (paid === price || adjusted === price)
}

/** A payment that was given back. */
export interface Refunded {
  readonly _tag: "Refunded"
  readonly paymentId: string | undefined
  /** False if a part of it stays paid. */
  readonly isWhole: boolean
}

/**
 * The outcomes of a message, from the least to the most conclusive. A later report never replaces a more conclusive
 * one.
 */
export const MessageStatus = Schema.Literals(["SENT", "FAILED", "DELIVERED", "READ", "BOUNCED", "COMPLAINED"])
export type MessageStatus = typeof MessageStatus.Type

/** The channel of a message. */
export type Channel = "email" | "phone"

/** Why messages to an address stop. */
export const StopReason = Schema.Literals(["BOUNCED", "COMPLAINED", "OPTED_OUT"])
export type StopReason = typeof StopReason.Type

/** A report about a message. */
export interface MessageReported {
  readonly _tag: "MessageReported"
  readonly channel: Channel
  /** The ids that the provider may have given the message. */
  readonly messageIds: ReadonlyArray<string>
  readonly status: MessageStatus
  /** The addresses that get no more messages. */
  readonly stopped: ReadonlyArray<string>
}

/** A consumer opts out of messages to its address, or in again. */
export interface OptedOut {
  readonly _tag: "OptedOut"
  readonly channel: Channel
  readonly address: string
}
export interface OptedIn {
  readonly _tag: "OptedIn"
  readonly channel: Channel
  readonly address: string
}

/** Usher does nothing about the event. */
export interface Nothing {
  readonly _tag: "Nothing"
}

export type Meaning = Paid | Refunded | MessageReported | OptedOut | OptedIn | Nothing

export const nothing: Nothing = { _tag: "Nothing" }
