/** The commands, refusals, views and facts of an auction. */
import { Schema } from "effect"
import type { Price } from "../values/Amount.ts"
import type { StaffReason } from "../mechanism/Author.ts"
import { type AdminReason, recordedReasons } from "../mechanism/Denial.ts"
import type { Administration, AdminPlaceCommand } from "../mechanism/Administration.ts"
import type { WithRisk } from "../mechanism/EntryRisk.ts"
import type { CompletedGrant, HeldGrant } from "../mechanism/GrantRecord.ts"
import type { Complete, CompleteRefusal, Deny } from "../mechanism/Grants.ts"
import type {
  AmountMissing,
  AmountNotWhole,
  BidTooHigh,
  BidTooLow,
  BidUnlikely,
  CommonRefusal,
  Full,
  SoldOut
} from "../mechanism/Refusals.ts"
import type { SettleUnits } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** The reason for a place that is DENIED. */
export const DenialReason = Schema.Literals(["ADMISSION_EXPIRED", "AUCTION_CLOSED", ...recordedReasons])
export type DenialReason = typeof DenialReason.Type

/**
 * A command from an admin, a consumer or a shop; `by` names the author. `Remove` takes away the place of an archived
 * consumer.
 */
export type Command =
  | Administration<Configuration>
  | (WithRisk & { readonly _tag: "Enter"; readonly consumerId: string; readonly isGuest?: boolean })
  | (WithRisk & {
      readonly _tag: "Bid"
      readonly consumerId: string
      readonly isGuest?: boolean
      /** The amount of an english bid. In a dutch auction, the most that the bidder pays; absent: any price. */
      readonly amount?: Price
      /** A consumer with a proved address has confirmed the amount, however high it is. */
      readonly isConfirmed?: boolean
    })
  /** Closes the auction before its time, and settles it at once: the leading bids win. */
  | { readonly _tag: "CloseNow"; readonly by: string; readonly reason?: StaffReason | undefined }
  | Deny<AdminReason>
  | Complete
  | AdminPlaceCommand<"Remove">
  | SettleUnits

/** Every refusal of an auction. */
export type Refusal =
  | CommonRefusal
  | Full
  | CompleteRefusal
  | SoldOut
  | BidTooLow
  | BidTooHigh
  | BidUnlikely
  | AmountNotWhole
  | AmountMissing

/** The fields of every view of a consumer that has entered. */
export interface Participation {
  readonly enteredAt: Millis
  /** The name that other bidders see, in this auction alone. */
  readonly bidderHandle: string
  /** The number of accepted bids. */
  readonly bidCount: number
  /** Absent before the first bid. */
  readonly lastBidAmount?: Price
}

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_BID"; readonly bidCount: 0 }
  /** The consumer has entered and has not bid yet. */
  | (Participation & { readonly status: "BIDDING" })
  /** The bid wins a unit if no higher bid comes. */
  | (Participation & { readonly status: "WINNING" })
  | (Participation & { readonly status: "OUTBID" })
  | (Participation & HeldGrant & { readonly status: "WON"; readonly winningBidAmount: Price; readonly wonAt: Millis })
  | (Participation & { readonly status: "LOST"; readonly lostAt: Millis })
  | (Participation & CompletedGrant & { readonly status: "COMPLETED"; readonly winningBidAmount: Price })
  | (Participation & { readonly status: "DENIED"; readonly reason: DenialReason; readonly deniedAt: Millis })

/** The public form of an accepted bid. */
export interface Bid {
  readonly bidderHandle: string
  readonly amount: Price
  readonly placedAt: Millis
}

/** The public facts of an auction, in addition to its terms. */
export interface Facts {
  /**
   * dutch: the price of a unit. english: the lowest leading bid if there is one for each unit, otherwise the start
   * price. Does not change after the auction has ended.
   */
  readonly currentPrice: Price
  /** english: the least amount that a new bidder may bid. Absent of a dutch auction, and after the auction has ended. */
  readonly minimumBid?: Price
  /** Units that no consumer has won yet. */
  readonly remainingQuantity: number
  /** True if the auction accepts no more bids. */
  readonly auctionEnded: boolean
  /** The bids that have won a unit, or win one if no higher bid comes; the highest first, at most `bidsShownMax`. */
  readonly leadingBids: ReadonlyArray<Bid>
  /** The latest accepted bids, whatever their outcome; the newest first, at most `bidsShownMax`. */
  readonly latestBids: ReadonlyArray<Bid>
}

/** The maximum of bids in each list of {@link Facts}. */
export const bidsShownMax = 100
