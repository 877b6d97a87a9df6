/**
 * What a draw is asked and what it answers (completions 3, "Draw").
 */
import { Schema } from "effect"
import type {
  AlreadyGranted,
  Closed,
  ConfigurationFixed,
  Full,
  GuestsRefused,
  NotEntered,
  NotOpen,
  WrongStatus
} from "../Refusals.ts"
import type { Millis } from "../Time.ts"
import type { Configuration } from "./Configuration.ts"

/** Why an admin, or a shop, denies a place. */
export const AdminReason = Schema.Literals(["ORDER_LIMIT_EXCEEDED", "FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION"])
export type AdminReason = typeof AdminReason.Type

/** Why a place ended as DENIED. */
export const DenialReason = Schema.Literals([
  "NOT_SELECTED",
  "ADMISSION_EXPIRED",
  "DRAW_CLOSED",
  ...AdminReason.literals
])
export type DenialReason = typeof DenialReason.Type

/** What an admin, a consumer, a shop or the beacon's client wants of the draw; `by` is the admin as records name him. */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
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
  | { readonly _tag: "Leave"; readonly consumerId: string }
  | { readonly _tag: "Deny"; readonly consumerId: string; readonly reason: AdminReason }
  | { readonly _tag: "Complete"; readonly consumerId: string }

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

/** A consumer's own view of its place. `entryId` is its entry's name in the list and in the proof. */
export type View =
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
