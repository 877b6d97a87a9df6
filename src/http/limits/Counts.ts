/**
 * The numbers of requests: counters in maps, in fixed windows aligned to the clock. A count costs some tens of
 * nanoseconds. Effect's `RateLimiter` is not used: its windows begin with the first request instead of on the clock's
 * minute, and each of its counts is an effect and, with Redis, a round trip.
 *
 * Every window divides the minute.
 */
import type { Millis } from "../../domain/values/Time.ts"
import type { Limit } from "./Limit.ts"

/** The units that the shared count has lent this process for one count in the present window. */
export interface Share {
  /** The name of the count and the window in all processes. */
  readonly key: string
  /** Lent and not yet spent. */
  spendable: number
  /** Lent and not yet accounted for to the shared count. */
  open: number
  /** The units left to lend, at the last loan. */
  left: number
  /** Spent without a loan: while the shared count was unavailable, or because an answer was large. */
  local: number
  /** Spent by other processes, as far as they had accounted for it at the last loan. */
  elsewhere: number
  /** The epoch of the shared count that these figures belong to. A lost count begins a new epoch. */
  epoch: string
  /** True if nothing is left to lend and nothing will come back. */
  isExhausted: boolean
}

/** The requests of one holder under one limit, in the present window. */
export class Count {
  limit: Limit
  used = 0
  /** Absent before the first loan in this window. */
  share: Share | undefined
  private readonly holder: string
  private window = -1

  constructor(holder: string, limit: Limit) {
    this.holder = holder
    this.limit = limit
  }

  begin(window: number): void {
    this.window = window
    this.used = 0
    this.share = undefined
  }

  /** The end of the window. */
  get endsAt(): Millis {
    return (this.window + 1) * this.limit.windowMillis
  }

  /** Requests in all processes, as far as this one knows. */
  get usedByAll(): number {
    return this.share === undefined ? this.used : this.used + this.share.elsewhere
  }

  /** The share in this window. It is empty at first. */
  shared(): Share {
    return (this.share ??= {
      key: `${this.holder}:${this.limit.name}:${this.window}`,
      spendable: 0,
      open: 0,
      left: this.limit.requestsMax,
      local: 0,
      elsewhere: 0,
      epoch: "",
      isExhausted: false
    })
  }
}

/**
 * The number of the window that `now` is in. A clock that steps back a little over the edge of a window does not reopen
 * it. A clock that is set back permanently is followed.
 */
export function windowOf(now: Millis, windowMillis: number, present: number): number {
  const window = Math.floor(now / windowMillis)
  return window === present - 1 ? present : window
}
