/** The commands, refusals and views of a timed release. */
import { Schema } from "effect"
import { type AdminReason, recordedReasons } from "../mechanism/Denial.ts"
import type { Administration, AdminPlaceCommand, PlaceCommand } from "../mechanism/Administration.ts"
import type { WithRisk } from "../mechanism/EntryRisk.ts"
import type { CompletedGrant, HeldGrant, LimitedGrants } from "../mechanism/GrantRecord.ts"
import type { Complete, CompleteRefusal, Deny } from "../mechanism/Grants.ts"
import type { CommonRefusal, GrantLimitReached, SoldOut, UnknownVariant } from "../mechanism/Refusals.ts"
import type { SettleUnits } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** The reason for a grant that is DENIED. */
export const DenialReason = Schema.Literals(recordedReasons)
export type DenialReason = typeof DenialReason.Type

/**
 * A command from an admin, a consumer or a shop; `by` names the author. `Remove` takes away the place of an archived
 * consumer.
 */
export type Command =
  | Administration<Configuration>
  | (WithRisk & {
      readonly _tag: "Enter"
      readonly consumerId: string
      readonly isGuest: boolean
      /** Absent: the selection does not change. */
      readonly variantId?: string
      /** True if the variant does not belong to the product that the system has assigned to the consumer. */
      readonly isUnassigned?: boolean
      /** True if the experience does not offer the variant. Ignored if the timed release has variants of its own. */
      readonly isNotOffered?: boolean
    })
  | PlaceCommand<"Leave">
  | Deny<AdminReason>
  | Complete
  | AdminPlaceCommand<"Remove">
  | SettleUnits

/** Every refusal of a timed release. */
export type Refusal = CommonRefusal | SoldOut | UnknownVariant | GrantLimitReached | CompleteRefusal

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_ENTERED" }
  | (HeldGrant & {
      readonly status: "ENTERED"
      readonly enteredAt: Millis
      /** Absent if the consumer has selected no variant. */
      readonly selectedVariantId?: string
    })
  | (CompletedGrant &
      LimitedGrants & {
        readonly status: "COMPLETED"
        readonly enteredAt: Millis
        readonly selectedVariantId?: string
      })
  | (LimitedGrants & { readonly status: "LEFT"; readonly enteredAt: Millis; readonly leftAt: Millis })
  | { readonly status: "DENIED"; readonly enteredAt: Millis }
  | (LimitedGrants & { readonly status: "EXPIRED"; readonly enteredAt: Millis; readonly expiresAt: Millis })

/** The public facts of a timed release, in addition to its settings. */
export interface Facts {
  /** Units that are neither held nor sold; Infinity: no limit. */
  readonly unitsLeft: number
}
