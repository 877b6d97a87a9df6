/**
 * The count that several processes share, as one of them sees it: it lends blocks of what is left of a window, so that
 * most requests need no round trip. `RedisQuotaLease.ts` keeps it in Redis; the rules are these.
 *
 * For each window there are `taken`, what has been lent, and `open`, the part of it that the borrowers have not accounted
 * for yet. A process borrows as many as it has requests waiting and an eighth of what is left; it accounts for a block
 * when it borrows the next. Once nothing is left, everybody who still has an open block is told (`recalls`), gives back
 * what it has not spent and accounts for the rest; from then on the window is lent one by one.
 *
 * Never more than the limit pass: each request that passes has spent a unit of a loan, a unit is lent only while `taken`
 * is below the limit, in one atomic step, and `taken` falls only by units that their borrower has struck off its own
 * figures before it sends them back. A loan or a return whose answer is lost makes `taken` too high, never too low.
 *
 * Not fewer either, while all processes live: a request is refused only if its loan found nothing left and nothing open,
 * so that every unit has been spent; or if open blocks did not come back in spite of several recalls, because a process
 * has died or stands still. Since blocks stop with the first empty answer, what is open can only shrink from there.
 *
 * If the shared count itself is lost (a restart, a flush), it begins anew under another epoch. Accounts of the former one
 * are ignored, each borrower tells what it has spent, and goes on holding itself to the limit meanwhile.
 */
import { type Effect, Schema } from "effect"

/** The shared count cannot be reached, or did not answer in time. */
export class QuotaLeaseLost extends Schema.TaggedError<QuotaLeaseLost>()("LenderLost", { reason: Schema.String }) {}

export interface LoanRequest {
  /** Names the count and the window. */
  readonly key: string
  readonly requestsMax: number
  readonly windowMillis: number
  /** Requests that wait for it. */
  readonly needed: number
  /** Spent of loans made before, under this epoch; they are no longer open. */
  readonly spent: number
  /** Spent without a loan, and not told yet. */
  readonly local: number
  /** Spent in this window in all: what the shared count is told if it has begun anew. */
  readonly used: number
  readonly epoch: string
}

export interface Loan {
  readonly lent: number
  /** What is left after it. */
  readonly left: number
  /** What all borrowers have not accounted for, without this loan. */
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
  /** False while the shared count cannot be reached: then each process counts alone. */
  readonly isInReach: () => boolean
  lend(request: LoanRequest): Effect.Effect<Loan, QuotaLeaseLost>
  giveBack(returned: Return): Effect.Effect<void, QuotaLeaseLost>
  /** Calls the function with the key of each window in which somebody found nothing left, until the process ends. */
  onRecall(recall: (key: string) => void): void
}
