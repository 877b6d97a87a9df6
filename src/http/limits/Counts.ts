/**
 * How many requests there were: plain counters in maps, in fixed windows aligned to the clock. A count costs some tens of
 * nanoseconds, which is why these are not Effect's `RateLimiter`: its windows begin with the first request instead of on
 * the clock's minute, and each of its counts is an effect and, with Redis, a round trip.
 *
 * Nothing outlives its minute: every window divides it, so that all counts are dropped together when the next begins.
 */
import type { Millis } from "../../domain/values/Time.ts"
import type { Limit } from "./Limit.ts"

const minuteMillis = 60_000

/** What the processes that count together have lent this one for the present window of one count. */
export interface Share {
  /** Names the count and the window among all processes. */
  readonly key: string
  /** Lent and not spent yet. */
  spendable: number
  /** Lent, and not accounted for to the others yet. */
  open: number
  /** What the others and we had left to lend, when last heard of. */
  left: number
  /** Spent without asking, while the others could not be reached. */
  local: number
  /** The others' count these figures belong to: it starts anew if it was lost. */
  epoch: string
  /** Nothing is left to lend, and nothing will come back. */
  isExhausted: boolean
}

/** The requests of one holder under one limit, in the present window. */
export class Count {
  limit: Limit
  used = 0
  /** Absent while nothing was lent in this window. */
  share: Share | undefined
  readonly #holder: string
  #window = -1

  constructor(holder: string, limit: Limit) {
    this.#holder = holder
    this.limit = limit
  }

  /** Begins a new window if the present one is over. */
  advance(now: Millis): void {
    const window = windowOf(now, this.limit.windowMillis, this.#window)
    if (window === this.#window) return
    this.#window = window
    this.used = 0
    this.share = undefined
  }

  /** When the window ends. */
  get endsAt(): Millis {
    return (this.#window + 1) * this.limit.windowMillis
  }

  /** The share in this window, empty at first. */
  shared(): Share {
    return (this.share ??= {
      key: `${this.#holder}:${this.limit.name}:${this.#window}`,
      spendable: 0,
      open: 0,
      left: this.limit.requestsMax,
      local: 0,
      epoch: "",
      isExhausted: false
    })
  }
}

/** The counts of one holder: an organization, or an address or consumer within it. */
export class Account {
  readonly #holder: string
  readonly #counts: Array<Count | undefined> = []

  constructor(holder: string) {
    this.#holder = holder
  }

  /** The count under a limit, in the window that `now` is in. */
  count(limit: Limit, now: Millis): Count {
    const count = (this.#counts[limit.slot] ??= new Count(this.#holder, limit))
    // The limit may have been changed a moment ago; what was used stays used.
    count.limit = limit
    count.advance(now)
    return count
  }
}

/** Accounts by holder, at most so many in a minute. */
export class Accounts {
  readonly #capacity: number
  #minute = -1
  #accounts = new Map<string, Account>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The holder's account; undefined if it is a new one and there is no room for more in this minute. */
  of(holder: string, now: Millis): Account | undefined {
    const minute = windowOf(now, minuteMillis, this.#minute)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#accounts = new Map()
    }
    const known = this.#accounts.get(holder)
    if (known !== undefined || this.#accounts.size >= this.#capacity) return known
    const account = new Account(holder)
    this.#accounts.set(holder, account)
    return account
  }
}

/**
 * The number of the window that `now` is in. A clock that steps back a little over a window's edge does not open the
 * window before a second time; one that is set back for good is followed.
 */
function windowOf(now: Millis, windowMillis: number, present: number): number {
  const window = Math.floor(now / windowMillis)
  return window === present - 1 ? present : window
}
