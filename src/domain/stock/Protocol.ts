/** The commands, refusals and facts of a stock. */
import { Schema } from "effect"
import type { Administration } from "../mechanism/Administration.ts"
import type { CommonRefusal } from "../mechanism/Refusals.ts"
import type { Transfer, UnitsReport } from "../mechanism/UnitProtocol.ts"
import type { Configuration } from "./Configuration.ts"

/** Why the number of units was corrected. It is a code, because events are kept permanently. */
export const AdjustmentReason = Schema.Literals(["DELIVERED", "COUNTED", "DAMAGED", "RETURNED", "WITHDRAWN", "OTHER"])
export type AdjustmentReason = typeof AdjustmentReason.Type

/** How many units are not sold: none, at most `lowAt`, or more. */
export const Level = Schema.Literals(["EMPTY", "LOW", "AVAILABLE"])
export type Level = typeof Level.Type

/** What the mechanisms of a stock say of their units. One that is not found is gone: nothing of it is outstanding. */
export interface Reports {
  readonly reports: ReadonlyMap<string, UnitsReport | "gone">
}

/** A command from an admin or the system; `by` names the author. */
export type Command =
  | Administration<Configuration>
  /** Adds units, or takes away free ones. */
  | { readonly _tag: "Adjust"; readonly units: number; readonly reason: AdjustmentReason; readonly by: string }
  /** Records what came, was taken and was sold, and sends free units to the next takers. */
  | (Reports & { readonly _tag: "Settle" })
  /** An order that went through no mechanism takes free units. The same order again, or a cancelled one, changes nothing. */
  | { readonly _tag: "CountOrder"; readonly orderId: string; readonly units: number }
  /**
   * An order was cancelled: its units are free again if the stock wishes so. Of an order that was counted here these are
   * the counted ones; of another one, which a mechanism sold, `units`.
   */
  | { readonly _tag: "CancelOrder"; readonly orderId: string; readonly units: number }
  /** An order that may have been counted was not written. Its units are free again. */
  | { readonly _tag: "UndoOrder"; readonly orderId: string }

/** Fewer units are free than the command needs: `free`. 409 `OUT_OF_STOCK` */
export class TooFewUnits extends Schema.TaggedError<TooFewUnits>()("TooFewUnits", { free: Schema.Int }) {}

/** A stock holds at most `maximum` units. 409 `TOO_MANY_UNITS` */
export class TooManyUnits extends Schema.TaggedError<TooManyUnits>()("TooManyUnits", { maximum: Schema.Int }) {}

/** Every refusal of a stock. */
export type Refusal = CommonRefusal | TooFewUnits | TooManyUnits

/** The units of one mechanism, as far as the stock knows. */
export interface AccountFacts {
  readonly distributionId: string
  /** Units that are there, or on their way back. */
  readonly allocated: number
  readonly sold: number
  /** The number of the last transfer that came from it. */
  readonly taken: number
  /** Absent: nothing is on its way to it. */
  readonly underway?: Transfer
}

/** The facts of a stock. onHand = free + Σ allocated + Σ under way + sold. */
export interface Facts {
  /** All units that the stock was given and that were not taken away, sold ones included. */
  readonly onHand: number
  readonly free: number
  readonly underway: number
  readonly sold: number
  readonly accounts: ReadonlyArray<AccountFacts>
}
