/**
 * A count that several processes share, as one of them uses it. It lends blocks of the units left in a window, so that
 * most requests need no round trip. `RedisQuotaLease.ts` stores it in Redis. The rules are these.
 *
 * Each window has two numbers: `taken`, the units lent, and `open`, those of them that the borrowers have not accounted
 * for. A process borrows one unit for each waiting request and an eighth of the units left. It accounts for a block
 * when it borrows the next. Once nothing is left, every process with an open block is asked to return it (`recalls`):
 * it returns the unspent units and accounts for the others. From then on the units of the window are lent one by one.
 *
 * No more requests pass than the limit allows. Each request that passes has spent a lent unit. A unit is lent only
 * while `taken` is below the limit, in one atomic step. `taken` falls only by units that their borrower has removed
 * from its own figures before it returns them. If the answer to a loan or a return is lost, `taken` is too high, never
 * too low.
 *
 * No fewer pass either, while all processes live. A request is refused only if its loan found nothing left and nothing
 * open, so every unit is spent; or if open blocks did not come back after several recalls, because a process has died
 * or hangs. Blocks end with the first empty answer, so the open units can only become fewer from then on.
 *
 * If the shared count is lost (a restart, a flush), it begins again under another epoch. It ignores accounts of the
 * former epoch. Each borrower reports the units it has spent and keeps to the limit by its own figures meanwhile.
 */
import { type Effect, Schema } from "effect"

/** The shared count is unavailable, or did not answer in time. */
export class QuotaLeaseLost extends Schema.TaggedError<QuotaLeaseLost>()("LenderLost", { reason: Schema.String }) {}

export interface LoanRequest {
  /** The name of the count and the window. */
  readonly key: string
  readonly requestsMax: number
  readonly windowMillis: number
  /** The requests that wait for the loan. */
  readonly needed: number
  /** Units of earlier loans that were spent under this epoch. They are no longer open. */
  readonly spent: number
  /** Units spent without a loan and not yet reported. */
  readonly local: number
  /** All units spent in this window. A shared count that has begun again needs them. */
  readonly used: number
  readonly epoch: string
}

export interface Loan {
  readonly lent: number
  /** The units left after the loan. */
  readonly left: number
  /** The units that borrowers have not accounted for, without this loan. */
  readonly open: number
  readonly epoch: string
}

export interface Return {
  readonly key: string
  readonly epoch: string
  /** Units accounted for, spent or not. */
  readonly closed: number
  /** Those of them that were not spent. */
  readonly unspent: number
}

export interface QuotaLease {
  /** False while the shared count is unavailable. Then each process counts alone. */
  readonly isInReach: () => boolean
  lend(request: LoanRequest): Effect.Effect<Loan, QuotaLeaseLost>
  giveBack(returned: Return): Effect.Effect<void, QuotaLeaseLost>
  /** Calls `recall` with the key of each window in which a loan found nothing left, until the process ends. */
  onRecall(recall: (key: string) => void): void
}
