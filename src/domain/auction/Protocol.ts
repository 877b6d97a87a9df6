/**
 * What an auction is asked and what it answers (completions 3, "Auction").
 */
import { Schema } from "effect"
import type { Price } from "../values/Amount.ts"
import { AdminReason } from "../mechanism/Denial.ts"
import type { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import type {
  AmountMissing,
  BidTooLow,
  Closed,
  ConfigurationFixed,
  Full,
  NotOpen,
  SoldOut,
  WrongStatus
} from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** Why a place ended as DENIED. `ORDER_LIMIT_EXCEEDED` is no reason any more, and stands in what was recorded before. */
export const DenialReason = Schema.Literals([
  "ADMISSION_EXPIRED",
  "AUCTION_CLOSED",
  "ORDER_LIMIT_EXCEEDED",
  ...AdminReason.literals
])
export type DenialReason = typeof DenialReason.Type

/**
 * What an admin, a consumer or a shop wants of the auction; `by` is the API key that was used, as records name it. `Remove`
 * takes away the place of a consumer that is archived.
 */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
  /** Says in which window of its experience the mechanism lives; one that it knows, or an earlier one, changes nothing. */
  | { readonly _tag: "SetExperienceWindow"; readonly window: ExperienceWindow; readonly by: string }
  | { readonly _tag: "End"; readonly by: string }
  | { readonly _tag: "Archive"; readonly by: string }
  | { readonly _tag: "Enter"; readonly consumerId: string }
  | {
      readonly _tag: "Bid"
      readonly consumerId: string
      /** What an english bid offers; in a dutch auction the most the bidder pays, absent: any price. */
      readonly amount?: Price
    }
  | { readonly _tag: "Deny"; readonly consumerId: string; readonly reason: AdminReason; readonly by: string }
  | { readonly _tag: "Complete"; readonly consumerId: string; readonly by: string }
  | { readonly _tag: "Remove"; readonly consumerId: string; readonly by: string }

/** Every no an auction can say. */
export type Refusal = NotOpen | Closed | Full | WrongStatus | ConfigurationFixed | SoldOut | BidTooLow | AmountMissing

/** What every view of a consumer that entered has. */
export interface Participation {
  readonly enteredAt: Millis
  /** As what the others see it, in this auction alone. */
  readonly bidderHandle: string
  /** Accepted bids. */
  readonly bidCount: number
  /** Absent before the first bid. */
  readonly lastBidAmount?: Price
}

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_BID"; readonly bidCount: 0 }
  /** Entered, and has not bid yet. */
  | (Participation & { readonly status: "BIDDING" })
  /** Would get a unit if no higher bid came. */
  | (Participation & { readonly status: "WINNING" })
  | (Participation & { readonly status: "OUTBID" })
  | (Participation & {
      readonly status: "WON"
      readonly winningBidAmount: Price
      readonly wonAt: Millis
      /** Absent if grants do not expire. */
      readonly expiresAt?: Millis
      /** The sequence of the win's event: with the auction's id, the grant's name for ever. */
      readonly grantSequence: number
    })
  | (Participation & { readonly status: "LOST"; readonly lostAt: Millis })
  | (Participation & {
      readonly status: "COMPLETED"
      readonly winningBidAmount: Price
      readonly completedAt: Millis
    })
  | (Participation & { readonly status: "DENIED"; readonly reason: DenialReason; readonly deniedAt: Millis })

/** An accepted bid as everybody may see it. */
export interface Bid {
  readonly bidderHandle: string
  readonly amount: Price
  readonly placedAt: Millis
}

/** What anyone may know of an auction beside its terms. */
export interface Facts {
  /**
   * dutch: what a unit costs. english: the lowest leading bid once as many lead as there are units; before, the start
   * price. Stands still when the auction has ended.
   */
  readonly currentPrice: Price
  /** Units that nobody has won yet. */
  readonly remainingQuantity: number
  /** No bid counts any more. */
  readonly auctionEnded: boolean
  /** The bids that get a unit if no higher one comes, or have got it; the highest first, at most `bidsShownMax`. */
  readonly leadingBids: ReadonlyArray<Bid>
  /** The bids that were accepted last, whatever became of them; the newest first, at most `bidsShownMax`. */
  readonly latestBids: ReadonlyArray<Bid>
}

/** Most bids that are shown at once. */
export const bidsShownMax = 100
