/**
 * What a timed release is asked and what it answers (interface document 2.9; completions 3, "Timed release").
 */
import { Schema } from "effect"
import type {
  Closed,
  ConfigurationFixed,
  GuestsRefused,
  NotOpen,
  SoldOut,
  UnknownVariant,
  WrongStatus
} from "../Refusals.ts"
import type { Millis } from "../Time.ts"
import type { Configuration } from "./Configuration.ts"

/** Why a shop ended a grant as DENIED. */
export const DenialReason = Schema.Literals(["ORDER_LIMIT_EXCEEDED", "FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION"])
export type DenialReason = typeof DenialReason.Type

/** What an admin, a consumer or a shop wants of the timed release; `by` is the admin as records name him. */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
  | { readonly _tag: "End"; readonly by: string }
  | { readonly _tag: "Archive"; readonly by: string }
  | {
      readonly _tag: "Enter"
      readonly consumerId: string
      readonly isGuest: boolean
      /** Absent: nothing selected, or the selection as it is. */
      readonly variantId?: string
      /** True if the variant is none of the product that the system has picked for the consumer. */
      readonly isUnassigned?: boolean
    }
  | { readonly _tag: "Leave"; readonly consumerId: string }
  | { readonly _tag: "Deny"; readonly consumerId: string; readonly reason: DenialReason }
  | { readonly _tag: "Complete"; readonly consumerId: string }

/** Every no a timed release can say. */
export type Refusal = NotOpen | Closed | SoldOut | UnknownVariant | GuestsRefused | WrongStatus | ConfigurationFixed

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_ENTERED" }
  | {
      readonly status: "ENTERED"
      readonly enteredAt: Millis
      /** Absent if grants do not expire. */
      readonly expiresAt?: Millis
      /** Absent while nothing is selected. */
      readonly selectedVariantId?: string
      /** The sequence of the entry's event: with the timed release's id, the grant's name for ever. */
      readonly grantSequence: number
    }
  | {
      readonly status: "COMPLETED"
      readonly enteredAt: Millis
      readonly completedAt: Millis
      readonly selectedVariantId?: string
    }
  | { readonly status: "LEFT"; readonly enteredAt: Millis; readonly leftAt: Millis }
  | { readonly status: "DENIED"; readonly enteredAt: Millis }
  | { readonly status: "EXPIRED"; readonly enteredAt: Millis; readonly expiresAt: Millis }
