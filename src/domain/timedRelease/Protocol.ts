/**
 * What a timed release is asked and what it answers (interface document 2.9; completions 3, "Timed release").
 */
import { Schema } from "effect"
import { AdminReason } from "../mechanism/Denial.ts"
import type { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import type {
  Closed,
  ConfigurationFixed,
  GuestsRefused,
  NotOpen,
  SoldOut,
  UnknownVariant,
  WrongStatus
} from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** Why a grant ended as DENIED. `ORDER_LIMIT_EXCEEDED` is no reason any more, and stands in what was recorded before. */
export const DenialReason = Schema.Literals(["ORDER_LIMIT_EXCEEDED", ...AdminReason.literals])
export type DenialReason = typeof DenialReason.Type

/**
 * What an admin, a consumer or a shop wants of the timed release; `by` is the API key that was used, as records name it.
 * `Remove` takes away the place of a consumer that is archived.
 */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
  /** Says in which window of its experience the mechanism lives; one that it knows, or an earlier one, changes nothing. */
  | { readonly _tag: "SetExperienceWindow"; readonly window: ExperienceWindow; readonly by: string }
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
      /** True if the experience does not offer the variant; counts where the timed release names no variants of its own. */
      readonly isNotOffered?: boolean
    }
  | { readonly _tag: "Leave"; readonly consumerId: string; readonly by?: string | undefined }
  | { readonly _tag: "Deny"; readonly consumerId: string; readonly reason: AdminReason; readonly by: string }
  | { readonly _tag: "Complete"; readonly consumerId: string; readonly by: string }
  | { readonly _tag: "Remove"; readonly consumerId: string; readonly by: string }

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
