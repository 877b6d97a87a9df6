/**
 * Limits on the requests of an address over all organizations: for callers of an unknown organization, and for large
 * documents. They are counted in this process alone.
 */
import type { Clock } from "effect"
import { Account, Accounts } from "./Accounts.ts"
import type { Count } from "./Counts.ts"
import type { Dice } from "./Decision.ts"
import type { Limit } from "./Limit.ts"
import { isFull, type LimitStatus, passed, refused } from "./LimitStatus.ts"

/** A limit for each address. */
export interface AddressLimit {
  /** Counts a request, or refuses it. */
  pass(address: string): LimitStatus
  /** The address's status. It counts no request. */
  status(address: string): LimitStatus
  /** True if the address would be refused. */
  isRefused(address: () => string): boolean
}

/** Makes a limit. The addresses beyond the capacity of a minute share one count. */
export const make = (limit: Limit, capacity: number, clock: Clock.Clock, random: Dice): AddressLimit => {
  const accounts = new Accounts(capacity, (holder) => new Account(holder))
  const overflow = new Accounts(1, (holder) => new Account(holder))
  let refusedUntil = 0

  const countOf = (address: string, now: number): Count =>
    (accounts.of(address, now) ?? overflow.of("", now)!).counts({ figure: limit }, now).figure

  return {
    pass: (address) => {
      const now = clock.currentTimeMillisUnsafe()
      const count = countOf(address, now)
      if (isFull(count)) {
        refusedUntil = count.endsAt
        return refused(count, now, random.nextDoubleUnsafe())
      }
      count.used++
      return passed(count, count.limit.requestsMax - count.used)
    },
    status: (address) => {
      const count = countOf(address, clock.currentTimeMillisUnsafe())
      return passed(count, count.limit.requestsMax - count.used)
    },
    isRefused: (address) => {
      if (refusedUntil === 0) return false
      const now = clock.currentTimeMillisUnsafe()
      if (now >= refusedUntil) {
        refusedUntil = 0
        return false
      }
      return isFull(countOf(address(), now))
    }
  }
}
