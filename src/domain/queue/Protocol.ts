/** The commands, refusals and views of a queue. */
import { Schema } from "effect"
import * as Denial from "../mechanism/Denial.ts"
import type { Outlook, WaitRecord } from "./wait/WaitState.ts"
import type { StaffReason } from "../mechanism/Author.ts"
import type { Administration, AdminPlaceCommand, PlaceCommand } from "../mechanism/Administration.ts"
import type { LoyalEntry } from "../mechanism/EntryRisk.ts"
import type { CompletedGrant, HeldGrant, LimitedGrants } from "../mechanism/GrantRecord.ts"
import type { Complete, CompleteRefusal, Deny } from "../mechanism/Grants.ts"
import type {
  AdmissionsUsedUp,
  CommonRefusal,
  Full,
  GrantLimitReached,
  InsideLimitReached,
  NotRenewable,
  SoldOut
} from "../mechanism/Refusals.ts"
import type { SettleUnits } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Line } from "./LineState.ts"

/** The reasons with which an organization's server denies a place. */
export const AdminReason = Schema.Literals(Denial.recordedReasons)
export type AdminReason = typeof AdminReason.Type

/** The reason for a place that is DENIED. */
export const DenialReason = Schema.Literals(["ADMISSION_EXPIRED", "QUEUE_CLOSED", ...AdminReason.literals])
export type DenialReason = typeof DenialReason.Type

/**
 * A command from an admin, a consumer or a shop; `by` names the author. `Remove` takes away the place of an archived
 * consumer.
 */
export type Command =
  | Administration<Configuration>
  /** Admits the next `count` in the queue's order, or fewer if not so many wait or may be admitted. */
  | (ByStaff & { readonly _tag: "AdmitNext"; readonly count: number })
  /** Stops admission by rate, until it is resumed. */
  | (ByStaff & { readonly _tag: "Pause" })
  | (ByStaff & { readonly _tag: "Resume" })
  | LoyalEntry
  | PlaceCommand<"Leave">
  | (ByStaff & { readonly _tag: "Admit"; readonly consumerId: string })
  | Deny<AdminReason>
  | Complete
  /** The consumer was seen with this grant: it ends later. */
  | (PlaceCommand<"Renew"> & { readonly grantSequence: number })
  | AdminPlaceCommand<"Remove">
  | SettleUnits

interface ByStaff {
  readonly by: string
  readonly reason?: StaffReason | undefined
}

/** Every refusal of a queue. */
export type Refusal =
  | CommonRefusal
  | Full
  | GrantLimitReached
  | CompleteRefusal
  | AdmissionsUsedUp
  | InsideLimitReached
  | NotRenewable
  | SoldOut

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_QUEUED" }
  | {
      readonly status: "QUEUED"
      /** 1 + the number of QUEUED entries ahead; absent in the lobby. */
      readonly position?: number
      /** The place's number in the order of admission; absent in the lobby, and under loyalty bias. */
      readonly ticket?: number
      /** The position that came with the ticket, for pages: the API does not send it. */
      readonly joined?: number
      /** Absent in the lobby, while admission is by hand, with an `insideLimit`, and while it is paused or sold out. */
      readonly estimatedWaitTimeInSeconds?: number
      /** Present while the rate admits no consumer because the queue is paused. */
      readonly paused?: true
      /** Present while no unit is left. The place is kept, because units may come until the queue closes. */
      readonly soldOut?: SoldOutView
      readonly positionDisplayMode: "precise" | "qualitative"
      readonly enteredAt: Millis
    }
  | (HeldGrant & { readonly status: "GRANTED"; readonly enteredAt: Millis; readonly grantedAt: Millis })
  | (CompletedGrant & LimitedGrants & { readonly status: "COMPLETED"; readonly enteredAt: Millis })
  | (LimitedGrants & {
      readonly status: "DENIED"
      readonly enteredAt: Millis
      readonly reason: DenialReason
      readonly deniedAt: Millis
    })
  | (LimitedGrants & { readonly status: "LEFT"; readonly enteredAt: Millis; readonly leftAt: Millis })

/** `mayReturn`: consumers here hold units that they have not used, or the stock has units that it may send. */
export interface SoldOutView {
  readonly mayReturn: boolean
}

/** A pause of admission by rate. */
export interface Pause {
  readonly since: Millis
  /** The name of the author. */
  readonly by: string
  readonly reason?: StaffReason
}

/** The public facts of a queue, in addition to its settings. */
export interface Facts {
  /** Undefined: the queue is not paused. */
  readonly pause: Pause | undefined
  /** Grants that may still be made; Infinity: no limit. */
  readonly admissionsLeft: number
  /** Units that no grant holds; Infinity: the queue sells from no stock, or more may come. */
  readonly unitsLeft: number
  /** Undefined: units are left, the queue sells from no stock, or it has closed. */
  readonly soldOut: SoldOutView | undefined
  /** Grants that are live. */
  readonly inside: number
  /** True if the next entry would have to wait, as every entry has to without `standby`. */
  readonly isEngaged: boolean
  readonly line: Line
  /** Undefined while no rate tells when a place is called. */
  readonly outlook: Outlook | undefined
  readonly waitRanges: WaitRecord
}

/** Consumers that one request admits by count. */
export const admissionsAtOnceMax = 10_000
