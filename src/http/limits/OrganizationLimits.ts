/**
 * The limits of an organization, and what is reserved in them for the first requests of addresses. So no number of
 * addresses uses up an organization's limit for others, and the organization never passes more than a fixed number of
 * requests.
 *
 * A limit of L requests has three counts. R is the reserve: L without `LIMIT_ADDRESS_SHARE` of it.
 *
 * - The figure, at most L: every request while it has room. So all callers together always find L, and an address that
 *   is alone finds exactly L.
 * - The first requests, at most L: those with which an address does not press.
 * - The reserve, at most R: first requests that pass although the figure is used up.
 *
 * A request passes if the figure has room. Else it passes if it is a first request, and both other counts have room. So
 * at most L + R requests pass in a window, 1.8 L with the default share. If all requests are first requests, L pass: the
 * reserve only replaces what others took beyond their first requests.
 *
 * The n-th request of an address in a window is a first request if n is at most its share. Shares shrink while requests
 * arrive: the first `LIMIT_ADDRESS_SHARE` of L is shared generously, each address may take as much as is left of it.
 * Then an address has up to three first requests, and fewer if less is left than that for 100 more addresses. Once the
 * figure is used up, an address that came before the others pressed may go on: its n-th request is a first request if n
 * is at most a tenth of what is left of half of R, and within the fair share: the most that all addresses may ask for
 * alike, so that together they stay within L (max-min fairness).
 *
 * An address presses if the organization refuses a request of it, and it has asked for more than the fair share. It has
 * no first requests in the windows of the next minute. So the reserve of later windows is for the others. The gate for
 * bots asks it for work (`presses`).
 *
 * With Redis the three counts are leased, each exact, so L + R holds for all processes together. What an address has
 * used, and whether it presses, each process knows for itself. So an address may have its first requests in each.
 */
import type { Millis } from "../../domain/values/Time.ts"
import { Count, windowOf } from "./Counts.ts"
import { minuteMillis, type OrganizationLimit } from "./Limit.ts"

/** The most first requests of an address after the generous part of a limit. A shopper's visit has about as many. */
export const firstRequestsMax = 3

/** An address has a further first request only if so many other addresses would find as many. */
export const furtherAddresses = 100

/** An address gets at most one of so many parts of what is left of half of the reserve. */
const reserveParts = 10

/** Classes of ranks: the ranks up to 1, 2, 4, and so on. */
const rankClasses = 32

/** The counts of one holder under one limit, in the present window. */
export class LimitCounts {
  readonly figure: Count
  /** Absent if addresses are not told apart. */
  readonly first: Count | undefined
  readonly reserve: Count | undefined
  window = -1
  /** The part of the figure that is shared generously. */
  private generous = 0
  /** Requests that were asked for, passed or refused, by the class of their rank among those of their address. */
  private readonly asked: Uint32Array

  constructor(holder: string, limit: OrganizationLimit) {
    this.figure = new Count(holder, limit.figure)
    this.first = limit.first && new Count(holder, limit.first)
    this.reserve = limit.reserve && new Count(holder, limit.reserve)
    this.asked = limit.first === undefined ? noRanks : new Uint32Array(rankClasses)
    this.limit(limit)
  }

  /** Sets the numbers. The counts stay. */
  limit({ figure, first, reserve }: OrganizationLimit): void {
    this.figure.limit = figure
    if (this.first !== undefined && first !== undefined) this.first.limit = first
    if (this.reserve !== undefined && reserve !== undefined) this.reserve.limit = reserve
    this.generous = figure.requestsMax - (reserve?.requestsMax ?? 0)
  }

  /** Begins a new window if the present one has ended. */
  advance(now: Millis): void {
    const window = windowOf(now, this.figure.limit.windowMillis, this.window)
    if (window === this.window) return
    this.window = window
    this.figure.begin(window)
    this.first?.begin(window)
    this.reserve?.begin(window)
    this.asked.fill(0)
  }

  get windowsOfMinute(): number {
    return minuteMillis / this.figure.limit.windowMillis
  }

  /** The most requests of an address that are first requests now. */
  firstRequests(first: Count): number {
    const used = first.usedByAll
    return Math.max(this.generous - used, fewOf(first.limit.requestsMax - used))
  }

  /** The number of first requests that an address has left after so many, if no other comes. */
  firstRequestsLeft(first: Count, used: number): number {
    const usedByAll = first.usedByAll
    const free = first.limit.requestsMax - usedByAll
    let few = 0
    while (used + few + 1 <= fewOf(free - few)) few++
    return Math.max(0, few, Math.floor((this.generous - usedByAll + 1 - used) / 2))
  }

  /** Notes the n-th request that an address has asked for. */
  ask(rank: number): void {
    this.asked[classOf(rank)]!++
  }

  /**
   * Returns how many more requests half of the reserve has for an address that has asked for so many, if no other comes.
   * The next k pass if for each i up to k: `asked + i` is at most a part of what is left after i - 1 of them, and the
   * requests of ranks up to `asked + i` stay within the figure.
   */
  furtherRequestsLeft(asked: number): number {
    const { requestsMax } = this.reserve!.limit
    const free = Math.floor(requestsMax / 2) - this.reserve!.usedByAll
    let left = Math.floor((free + 1 - reserveParts * asked) / (reserveParts + 1))
    while (left > 0) {
      const rankClass = classOf(asked + left)
      const fair = Math.min(left, this.figure.limit.requestsMax - this.askedUpTo(rankClass))
      if (fair > 0 && classOf(asked + fair) === rankClass) return fair
      left = Math.floor(2 ** (rankClass - 1)) - asked
    }
    return 0
  }

  /** The requests of the classes up to this one. */
  private askedUpTo(rankClass: number): number {
    return this.asked.subarray(0, rankClass + 1).reduce((sum, asked) => sum + asked, 0)
  }

  /** The most requests that all addresses may ask for alike, so that together they stay within the figure. */
  get fairShare(): number {
    let together = 0
    for (let rankClass = 0; rankClass < rankClasses; rankClass++) {
      together += this.asked[rankClass]!
      if (together > this.figure.limit.requestsMax) return rankClass === 0 ? 0 : 2 ** (rankClass - 1)
    }
    return Infinity
  }
}

const noRanks = new Uint32Array(0)

const fewOf = (free: number): number =>
  free <= 0 ? 0 : Math.min(firstRequestsMax, Math.max(1, Math.floor(free / furtherAddresses)))

const classOf = (rank: number): number => 32 - Math.clz32(rank - 1)

/** The requests of one caller under one limit, in the present window. */
export class Use {
  readonly counts: LimitCounts
  /** True if the present request is a first request. */
  isFirst = false
  private used = 0
  private asked = 0
  private window = -1
  /** The last window without first requests, because the address presses. */
  private pressesThrough = -1
  /** True if the address pressed in an earlier window. */
  private isPressing = false

  constructor(counts: LimitCounts) {
    this.counts = counts
  }

  /** Begins a new window if the present one has ended. */
  advance(now: Millis): void {
    this.counts.advance(now)
    const { window } = this.counts
    if (window === this.window) return
    this.window = window
    this.used = 0
    this.asked = 0
    this.isPressing = window <= this.pressesThrough
  }

  /** Finds out whether the next request is a first request. */
  rank(first: Count, isFigureFull: boolean): void {
    this.isFirst =
      !this.isPressing &&
      (this.used < this.counts.firstRequests(first) ||
        (isFigureFull && this.counts.furtherRequestsLeft(this.asked) > 0))
  }

  /** The number of first requests left. */
  firstRequestsLeft(first: Count): number {
    if (this.isPressing) return 0
    return Math.max(this.counts.firstRequestsLeft(first, this.used), this.counts.furtherRequestsLeft(this.asked))
  }

  /** True if the address presses, or did so within the last minute. */
  presses(now: Millis): boolean {
    return now < (this.pressesThrough + 1) * this.counts.figure.limit.windowMillis
  }

  passed(requests: number): void {
    this.used += requests
    this.asked += requests
    this.counts.ask(this.asked)
  }

  refused(): void {
    this.asked++
    this.counts.ask(this.asked)
    if (this.asked > firstRequestsMax && this.asked > this.counts.fairShare)
      this.pressesThrough = this.window + this.counts.windowsOfMinute
  }
}
