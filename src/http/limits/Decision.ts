/**
 * Lets a request pass under all its counts, or refuses it. It is synchronous: counts that need a loan first are
 * returned. `Contributions.ts` has the rules.
 */
import type { Effect, Random } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { Counted } from "./Contributions.ts"
import type { Count } from "./Counts.ts"
import { isFull, type LimitStatus, passed, refused, unlimited } from "./LimitStatus.ts"
import type { QuotaLease } from "./QuotaLease.ts"

/** Numbers from 0 to 1. */
export type Dice = Effect.Success<typeof Random.Random>

export type Decide = (counted: ReadonlyArray<Counted>, now: Millis) => LimitStatus | ReadonlyArray<Count>

export const isStanding = (outcome: LimitStatus | ReadonlyArray<Count>): outcome is LimitStatus => "limit" in outcome

type Room = "room" | "full" | "unknown"

/** Makes the function that decides. */
export const make = (lender: QuotaLease | undefined, random: Dice): Decide => {
  /** Whether the count has room for a request. It is unknown until a loan has been made. */
  const roomIn = (count: Count): Room => {
    if (isFull(count)) return "full"
    if (lender === undefined || count.used < count.limit.unleasedMax) return "room"
    const share = count.shared()
    if (share.spendable > 0) return "room"
    if (share.isExhausted) return "full"
    return lender.isInReach() ? "unknown" : "room"
  }

  /** Whether the limit has room. Adds the counts that need a loan first. */
  const roomUnder = (counted: Counted, inNeed: Array<Count>): Room => {
    const { pot, base } = counted
    const inPot = roomIn(pot)
    if (inPot === "full") return "full"
    const inBase = base === undefined ? "room" : roomIn(base)
    counted.isBeyondBase = inBase === "full"
    if (counted.isBeyondBase) {
      const excess = counted.excess
      if (usedIn(pot) + usedIn(excess) >= pot.limit.requestsMax) return "full"
      const room = roomIn(excess)
      if (room === "unknown") inNeed.push(excess)
      return room
    }
    if (inBase === "unknown") inNeed.push(base!)
    if (inPot === "unknown") inNeed.push(pot)
    return inBase === "room" && inPot === "room" ? "room" : "unknown"
  }

  const spendUnder = makeSpend(lender)

  return (all, now) => {
    const inNeed: Array<Count> = []
    let full: Count | undefined
    for (const counted of all) {
      const room = roomUnder(counted, inNeed)
      if (room === "full" && (full === undefined || counted.pot.endsAt > full.endsAt)) full = counted.pot
    }
    if (full !== undefined) return refused(full, now, random.nextDoubleUnsafe())
    if (inNeed.length > 0) return inNeed
    let least: Count | undefined
    let remaining = Infinity
    for (const counted of all) {
      const left = spendUnder(counted)
      if (left < remaining) {
        remaining = left
        least = counted.pot
      }
    }
    return least === undefined ? unlimited(now) : passed(least, Math.max(0, remaining))
  }
}

/** Makes the function that spends a request. It returns the number left under the limit. */
const makeSpend = (lender: QuotaLease | undefined) => {
  const spend = (count: Count): void => {
    count.used++
    if (lender === undefined) return
    const share = count.shared()
    if (share.spendable > 0) share.spendable--
    else share.local++
  }

  const leftIn = ({ limit, used, share }: Count): number => {
    const here = limit.requestsMax - used
    if (share === undefined || lender === undefined || !lender.isInReach()) return here
    return Math.min(here, share.left + share.spendable)
  }

  return (counted: Counted): number => {
    const { pot, base } = counted
    if (counted.isBeyondBase) {
      const excess = counted.excess
      spend(excess)
      return Math.min(leftIn(excess), pot.limit.requestsMax - usedIn(pot) - usedIn(excess))
    }
    spend(pot)
    if (base !== undefined) spend(base)
    return leftIn(pot)
  }
}

/** Requests in all processes, as far as this one knows. */
const usedIn = ({ used, share }: Count): number => used + (share?.elsewhere ?? 0)
