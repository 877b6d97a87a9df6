/** The commands, refusals and views of a draw. */
import { Schema } from "effect"
import { type AdminReason, recordedReasons } from "../mechanism/Denial.ts"
import type { Administration, AdminPlaceCommand, PlaceCommand } from "../mechanism/Administration.ts"
import type { LoyalEntry } from "../mechanism/EntryRisk.ts"
import type { CompletedGrant, HeldGrant } from "../mechanism/GrantRecord.ts"
import type { Complete, CompleteRefusal, Deny } from "../mechanism/Grants.ts"
import type { AlreadyGranted, CommonRefusal, Full, NotEntered } from "../mechanism/Refusals.ts"
import type { SettleUnits } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** The reason for a place that is DENIED. */
export const DenialReason = Schema.Literals(["NOT_SELECTED", "ADMISSION_EXPIRED", "DRAW_CLOSED", ...recordedReasons])
export type DenialReason = typeof DenialReason.Type

/**
 * A command from an admin, a consumer, a shop or the beacon's client; `by` names the author. `Remove` takes away the
 * place of an archived consumer.
 */
export type Command =
  | Administration<Configuration>
  | {
      /**
       * A round of the beacon, in hex, whose signature was checked, or that a test clock simulates. The draw ignores a
       * round that it does not wait for.
       */
      readonly _tag: "ProvideBeacon"
      readonly round: number
      readonly randomness: string
      readonly signature: string
      readonly isSimulated?: true
    }
  | LoyalEntry
  | PlaceCommand<"Leave">
  | Deny<AdminReason>
  | Complete
  | AdminPlaceCommand<"Remove">
  | SettleUnits

/** Every refusal of a draw. */
export type Refusal = CommonRefusal | Full | CompleteRefusal | NotEntered | AlreadyGranted

/**
 * The part that all views of a draw share. After the drawing, a consumer that has not won may still replace a winner.
 */
interface Drawn {
  /** Absent before the drawing. */
  readonly drawnAt?: Millis
}

/** A consumer's own view of its place. `entryId` identifies its entry in the list and in the proof. */
export type View = Drawn & EntryStatus

type EntryStatus =
  | {
      readonly status: "NOT_ENTERED"
      /** When it withdrew, if it did. */
      readonly leftAt?: Millis
    }
  | { readonly status: "ENTERED"; readonly enteredAt: Millis; readonly entryId: string }
  | (HeldGrant & {
      readonly status: "WON"
      readonly enteredAt: Millis
      readonly entryId: string
      readonly wonAt: Millis
    })
  | (CompletedGrant & { readonly status: "COMPLETED"; readonly enteredAt: Millis; readonly entryId: string })
  | {
      readonly status: "DENIED"
      readonly enteredAt: Millis
      /** Absent if it was denied before entry closed; then it is not in the list. */
      readonly entryId?: string
      readonly reason: DenialReason
      readonly deniedAt: Millis
    }

/** The published facts of a draw; those that are not known yet are absent. */
export type Published = {
  /** SHA-256 of the seed. */
  readonly seedCommitment: string
  /** The digest of the list of entries, once entry has closed. */
  readonly entriesDigest?: string
  /** The round of the beacon that the drawing waits for, if any. */
  readonly beaconRound?: number
  /** ISO 8601 text. */
  readonly drawnAt?: string
}
