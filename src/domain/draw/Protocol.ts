/**
 * What a draw is asked and what it answers (completions 3, "Draw").
 */
import { Schema } from "effect"
import { AdminReason } from "../mechanism/Denial.ts"
import type { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import type {
  AlreadyGranted,
  Closed,
  ConfigurationFixed,
  Full,
  GuestsRefused,
  NotEntered,
  NotOpen,
  WrongStatus
} from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** Why a place ended as DENIED. `ORDER_LIMIT_EXCEEDED` is no reason any more, and stands in what was recorded before. */
export const DenialReason = Schema.Literals([
  "NOT_SELECTED",
  "ADMISSION_EXPIRED",
  "DRAW_CLOSED",
  "ORDER_LIMIT_EXCEEDED",
  ...AdminReason.literals
])
export type DenialReason = typeof DenialReason.Type

/**
 * What an admin, a consumer, a shop or the beacon's client wants of the draw; `by` is the API key that was used, as records
 * name it. `Remove` takes away the place of a consumer that is archived.
 */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
  /** Says in which window of its experience the mechanism lives; one that it knows, or an earlier one, changes nothing. */
  | { readonly _tag: "SetExperienceWindow"; readonly window: ExperienceWindow; readonly by: string }
  | { readonly _tag: "End"; readonly by: string }
  | { readonly _tag: "Archive"; readonly by: string }
  | {
      /** A round of the beacon whose signature was checked, in hex. Passed over if it is not the one that is awaited. */
      readonly _tag: "ProvideBeacon"
      readonly round: number
      readonly randomness: string
      readonly signature: string
    }
  | {
      readonly _tag: "Enter"
      readonly consumerId: string
      readonly isGuest: boolean
      /** 0 to 1. */
      readonly loyaltyScore: number
    }
  | { readonly _tag: "Leave"; readonly consumerId: string; readonly by?: string | undefined }
  | { readonly _tag: "Deny"; readonly consumerId: string; readonly reason: AdminReason; readonly by: string }
  | { readonly _tag: "Complete"; readonly consumerId: string; readonly by: string }
  | { readonly _tag: "Remove"; readonly consumerId: string; readonly by: string }

/** Every no a draw can say. */
export type Refusal =
  | NotOpen
  | Closed
  | Full
  | GuestsRefused
  | WrongStatus
  | ConfigurationFixed
  | NotEntered
  | AlreadyGranted

/** What a consumer's view of a draw that has been drawn has, whatever its status: who has not won may still replace a winner. */
interface Drawn {
  /** Absent before the drawing. */
  readonly drawnAt?: Millis
}

/** A consumer's own view of its place. `entryId` is its entry's name in the list and in the proof. */
export type View = Drawn & EntryStatus

type EntryStatus =
  | {
      readonly status: "NOT_ENTERED"
      /** When it withdrew, if it did. */
      readonly leftAt?: Millis
    }
  | { readonly status: "ENTERED"; readonly enteredAt: Millis; readonly entryId: string }
  | {
      readonly status: "WON"
      readonly enteredAt: Millis
      readonly entryId: string
      readonly wonAt: Millis
      /** Absent if wins do not expire. */
      readonly expiresAt?: Millis
      /** The sequence of the win's event: with the draw's id, the grant's name for ever. */
      readonly grantSequence: number
    }
  | {
      readonly status: "COMPLETED"
      readonly enteredAt: Millis
      readonly entryId: string
      readonly completedAt: Millis
    }
  | {
      readonly status: "DENIED"
      readonly enteredAt: Millis
      /** Absent if it was denied before entry closed: then it is not in the list. */
      readonly entryId?: string
      readonly reason: DenialReason
      readonly deniedAt: Millis
    }

/** What is published of a draw as it goes on; what is not known yet is absent. */
export type Published = {
  /** SHA-256 of the seed. */
  readonly seedCommitment: string
  /** Of the list of entries, once entry has closed. */
  readonly entriesDigest?: string
  /** The round of the beacon that the drawing waits for, if it waits for one. */
  readonly beaconRound?: number
  /** ISO 8601 text. */
  readonly drawnAt?: string
}
