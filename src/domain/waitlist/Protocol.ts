/** The commands, refusals and views of a waitlist. */
import { Schema } from "effect"
import type { Administration, AdminPlaceCommand, PlaceCommand } from "../mechanism/Administration.ts"
import { type AdminReason, recordedReasons } from "../mechanism/Denial.ts"
import type { WithRisk } from "../mechanism/EntryRisk.ts"
import type { CompletedGrant, HeldGrant } from "../mechanism/GrantRecord.ts"
import type { Complete, CompleteRefusal, Deny } from "../mechanism/Grants.ts"
import type { CommonRefusal, Full, WrongStatus } from "../mechanism/Refusals.ts"
import type { SettleUnits } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** The channel by which a member was notified. */
export const Channel = Schema.Literals(["email", "phone"])
export type Channel = typeof Channel.Type

/** The reason for a member that the end of the waitlist denies: it was not notified, or got no offer. */
export const closedReason = "WAITLIST_CLOSED"

/** The reasons with which staff deny. */
export const DenialReason = Schema.Literals(recordedReasons)
export type DenialReason = typeof DenialReason.Type

/**
 * A command from an admin, a consumer or the system; `by` names the author. `Remove` takes away the place of an archived
 * consumer.
 */
export type Command =
  | Administration<Configuration>
  | (WithRisk & { readonly _tag: "Enter"; readonly consumerId: string; readonly isGuest?: boolean })
  | PlaceCommand<"Leave">
  | AdminPlaceCommand<"Remove">
  | Deny<AdminReason>
  | Complete
  | SettleUnits
  /** Sets when the sequence opens; absent: not known. Members that were notified are not notified again. */
  | { readonly _tag: "ScheduleNotice"; readonly at?: Millis }
  /** Records that a member was notified, and how; without `channel`: that no message could be delivered. */
  | { readonly _tag: "MarkNotified"; readonly consumerId: string; readonly channel?: Channel }

/** Every refusal of a waitlist. */
export type Refusal = CommonRefusal | Full | WrongStatus | CompleteRefusal

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_ENTERED" }
  | {
      /** NOTIFIED: still a member, and notified that the sequence is open. */
      readonly status: "ENTERED" | "NOTIFIED"
      readonly enteredAt: Millis
      /** 1 + the number of members that entered before. */
      readonly position: number
    }
  | (HeldGrant & { readonly status: "OFFERED"; readonly enteredAt: Millis; readonly offeredAt: Millis })
  | (CompletedGrant & { readonly status: "COMPLETED"; readonly enteredAt: Millis })
  /** The offer was not used in time. The consumer may enter again, behind the others. */
  | { readonly status: "EXPIRED"; readonly enteredAt: Millis; readonly expiresAt: Millis }
  | { readonly status: "LEFT"; readonly enteredAt: Millis; readonly leftAt: Millis }
  | {
      readonly status: "DENIED"
      readonly enteredAt: Millis
      readonly deniedAt: Millis
      readonly reason: DenialReason | typeof closedReason
    }
