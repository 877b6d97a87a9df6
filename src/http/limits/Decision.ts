/**
 * Lets a request pass under all its counts, or refuses it. It is synchronous: counts that need a loan first are
 * returned. `OrganizationLimits.ts` has the rules.
 */
import type { Effect, Random } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { Count } from "./Counts.ts"
import { isFull, type LimitStatus, passed, refused, unlimited } from "./LimitStatus.ts"
import type { Use } from "./OrganizationLimits.ts"
import type { QuotaLease } from "./QuotaLease.ts"

/** Numbers from 0 to 1. */
export type Dice = Effect.Success<typeof Random.Random>

export interface Decision {
  /** Counts a request under all limits, or refuses it. Returns the counts that need a loan first. */
  decide(uses: ReadonlyArray<Use>, now: Millis): LimitStatus | ReadonlyArray<Count>
  /** Counts further requests for one that has passed, as far as the figures have room. */
  charge(uses: ReadonlyArray<Use>, requests: number, now: Millis): LimitStatus
}

/** False if counts need a loan first. */
export const isDecided = (outcome: LimitStatus | ReadonlyArray<Count>): outcome is LimitStatus => "limit" in outcome

type Room = "room" | "full" | "unknown"

/** Makes the functions that decide. */
export const make = (lender: QuotaLease | undefined, random: Dice): Decision => {
  const { roomIn, roomUnder } = makeRooms(lender)
  const { spend, leftUnder } = makeCounting(lender)

  /** Counts requests under a limit that has room for one. */
  const spendUnder = (use: Use): void => {
    const { figure, first, reserve } = use.counts
    if (first === undefined || reserve === undefined) return spend(figure, 1)
    spend(roomIn(figure) === "room" ? figure : reserve, 1)
    if (use.isFirst) spend(first, 1)
    use.passed(1)
  }

  const standing = (uses: ReadonlyArray<Use>, now: Millis): LimitStatus => {
    let least: Count | undefined
    let remaining = Infinity
    for (const use of uses) {
      const left = leftUnder(use)
      if (left < remaining) {
        remaining = left
        least = use.counts.figure
      }
    }
    return least === undefined ? unlimited(now) : passed(least, Math.max(0, remaining))
  }

  return {
    decide: (uses, now) => {
      const inNeed: Array<Count> = []
      let full: Count | undefined
      for (const use of uses) {
        if (roomUnder(use, inNeed) !== "full") continue
        const { figure, first } = use.counts
        if (first !== undefined) use.refused()
        if (full === undefined || figure.endsAt > full.endsAt) full = figure
      }
      if (full !== undefined) return refused(full, now, random.nextDoubleUnsafe())
      if (inNeed.length > 0) return inNeed
      for (const use of uses) spendUnder(use)
      return standing(uses, now)
    },
    charge: (uses, requests, now) => {
      for (const use of uses) {
        const { figure, first } = use.counts
        spend(figure, Math.max(0, Math.min(requests, figure.limit.requestsMax - figure.used)))
        if (first !== undefined) use.passed(requests)
      }
      return standing(uses, now)
    }
  }
}

/** Makes the functions that find out whether there is room. */
const makeRooms = (lender: QuotaLease | undefined) => {
  /** Whether the count has room for a request. It is unknown until a loan has been made. */
  const roomIn = (count: Count): Room => {
    if (isFull(count)) return "full"
    if (lender === undefined) return "room"
    const share = count.shared()
    if (share.spendable > 0) return "room"
    if (share.isExhausted) return "full"
    return lender.isInReach() ? "unknown" : "room"
  }

  /** Whether the limit has room. Adds the counts that need a loan first. */
  const roomUnder = (use: Use, inNeed: Array<Count>): Room => {
    const { figure, first, reserve } = use.counts
    const inFigure = roomIn(figure)
    if (first === undefined || reserve === undefined) return noted(figure, inFigure, inNeed)
    use.rank(first, inFigure === "full")
    if (!use.isFirst) return noted(figure, inFigure, inNeed)
    const inFirst = roomIn(first)
    const open = inFigure === "full" ? reserve : figure
    const inOpen = inFigure === "full" ? roomIn(reserve) : inFigure
    if (inFirst === "full" || inOpen === "full") return "full"
    noted(first, inFirst, inNeed)
    noted(open, inOpen, inNeed)
    return inFirst === "room" ? inOpen : "unknown"
  }

  return { roomIn, roomUnder }
}

const noted = (count: Count, room: Room, inNeed: Array<Count>): Room => {
  if (room === "unknown") inNeed.push(count)
  return room
}

const makeCounting = (lender: QuotaLease | undefined) => {
  const spend = (count: Count, requests: number): void => {
    count.used += requests
    if (lender === undefined) return
    const share = count.shared()
    const lent = Math.min(requests, share.spendable)
    share.spendable -= lent
    share.local += requests - lent
  }

  const leftIn = ({ limit, used, share }: Count): number => {
    const here = limit.requestsMax - used
    if (share === undefined || lender === undefined || !lender.isInReach()) return here
    return Math.min(here, share.left + share.spendable)
  }

  /** The number of requests that the caller has left if no other comes. */
  const leftUnder = (use: Use): number => {
    const { figure, first, reserve } = use.counts
    const left = leftIn(figure)
    if (left > 0 || first === undefined || reserve === undefined) return left
    return Math.min(use.firstRequestsLeft(first), leftIn(first), leftIn(reserve))
  }

  return { spend, leftUnder }
}
