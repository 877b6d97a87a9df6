/**
 * The accounts of organizations, of their addresses, and of other holders. Those of the present minute and of the one
 * before are kept, and their number in a minute is bounded.
 */
import type { Millis } from "../../domain/values/Time.ts"
import { windowOf } from "./Counts.ts"
import { minuteMillis, type OrganizationLimit } from "./Limit.ts"
import { LimitCounts, Use } from "./OrganizationLimits.ts"

/** The counts of one holder: an organization, or an address or a consumer within it. */
export class Account {
  readonly holder: string
  readonly #counts: Array<LimitCounts | undefined> = []

  constructor(holder: string) {
    this.holder = holder
  }

  /** The counts under a limit, in the window that `now` is in. */
  counts(limit: OrganizationLimit, now: Millis): LimitCounts {
    const { slot } = limit.figure
    const counts = (this.#counts[slot] ??= new LimitCounts(this.holder, limit))
    // The limit may just have been changed. The counts stay.
    counts.limit(limit)
    counts.advance(now)
    return counts
  }
}

/** Accounts by holder. Their number in a minute is bounded. */
export class Accounts<A> {
  readonly #capacity: number
  readonly #make: (holder: string) => A
  #minute = -1
  #accounts = new Map<string, A>()
  #previous = new Map<string, A>()

  constructor(capacity: number, make: (holder: string) => A) {
    this.#capacity = capacity
    this.#make = make
  }

  /** The holder's account; undefined for a holder that is new in the minute when that has no room for more. */
  of(holder: string, now: Millis): A | undefined {
    const minute = windowOf(now, minuteMillis, this.#minute)
    if (minute !== this.#minute) {
      this.#previous = minute === this.#minute + 1 ? this.#accounts : new Map()
      this.#accounts = new Map()
      this.#minute = minute
    }
    const known = this.#accounts.get(holder)
    if (known !== undefined || this.#accounts.size >= this.#capacity) return known
    const account = this.#previous.get(holder) ?? this.#make(holder)
    this.#accounts.set(holder, account)
    return account
  }

  /** The holder's account, if there is one. */
  peek(holder: string): A | undefined {
    return this.#accounts.get(holder) ?? this.#previous.get(holder)
  }
}

/** The counts of one caller within an organization: one of its addresses, or its own servers. */
export class CallerAccount {
  readonly name: string
  private readonly organization: OrganizationAccount
  private readonly uses: Array<Use | undefined> = []
  private limits: ReadonlyArray<OrganizationLimit> | undefined
  private list: ReadonlyArray<Use> = []

  constructor(organization: OrganizationAccount, name: string) {
    this.name = name
    this.organization = organization
  }

  /** The counts of a request under these limits. */
  under(limits: ReadonlyArray<OrganizationLimit>, now: Millis): ReadonlyArray<Use> {
    // Most callers repeat one operation.
    if (this.limits !== limits) {
      this.limits = limits
      this.list = limits.map((limit) => {
        const counts = this.organization.counts(limit, now)
        return (this.uses[limit.figure.slot] ??= new Use(counts))
      })
    }
    for (const use of this.list) use.advance(now)
    return this.list
  }

  /** True if the caller presses on a limit, or did so within the last minute. */
  presses(now: Millis): boolean {
    return this.uses.some((use) => use?.presses(now))
  }
}

/** The account of an organization: its limits, its own servers and its addresses. */
export class OrganizationAccount extends Account {
  readonly servers = new CallerAccount(this, "servers")
  /** Counts the addresses for which a process has no room. */
  readonly others = new CallerAccount(this, "others")
  minute = -1
  addresses = new Map<string, CallerAccount>()
  previous = new Map<string, CallerAccount>()

  /** Begins a new minute if the present one has ended. */
  advance(minute: number): void {
    if (minute === this.minute) return
    this.previous = minute === this.minute + 1 ? this.addresses : new Map()
    this.addresses = new Map()
    this.minute = minute
  }

  /** True if the address presses on a limit, or did so within the last minute. */
  presses(address: string, now: Millis): boolean {
    return (this.addresses.get(address) ?? this.previous.get(address))?.presses(now) ?? false
  }
}

/** The accounts of addresses, by organization. Their number in a minute is bounded for all organizations together. */
export class AddressAccounts {
  readonly #capacity: number
  #minute = -1
  #size = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /**
   * The account of an address. One that is new in the minute is not kept yet. Addresses beyond the capacity share one
   * account in each organization.
   */
  of(organization: OrganizationAccount, address: string, now: Millis): CallerAccount {
    const minute = windowOf(now, minuteMillis, this.#minute)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#size = 0
    }
    organization.advance(minute)
    const known = organization.addresses.get(address)
    if (known !== undefined) return known
    if (this.#size >= this.#capacity) return organization.others
    return organization.previous.get(address) ?? new CallerAccount(organization, address)
  }

  /**
   * Keeps the account in this minute, if a request of it has passed or it is known from the minute before. So an
   * organization has at most as many accounts as it allows requests, and those that go on asking.
   */
  keep(organization: OrganizationAccount, account: CallerAccount, hasPassed: boolean): void {
    const { name } = account
    if (account === organization.others || organization.addresses.has(name)) return
    if (!hasPassed && !organization.previous.has(name)) return
    organization.addresses.set(name, account)
    this.#size++
  }
}
