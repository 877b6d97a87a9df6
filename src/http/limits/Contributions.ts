/**
 * Limits the requests of one client address within an organization's limit, and the part of them that counts for other
 * addresses (completions 5). So one address never uses up an organization's limit.
 *
 * Of a limit of L requests, the first b requests of each address are its base; b is `LIMIT_ADDRESS_SHARE` of L, and at
 * least 1. The pot P counts the bases of all addresses. The requests of an address beyond its base are its excess E.
 *
 * - A request within the base passes if P < L. It counts in the base and in the pot.
 * - A request beyond the base passes if P + E < L. It counts in the excess only.
 *
 * So an address that is alone sees exactly L requests, because P + E is the number of its requests. Another address
 * still finds L - b. The addresses of one window pass at most L × (1/share + 1) / 2 requests together, 3 L with the
 * default of a fifth: the first uses L, the second L - b, and so on. After 1/share such addresses the pot is full, so
 * it takes that many addresses to shut others out.
 *
 * Requests with the secret key count in a pot of their own. With a share of 1 all requests count in one pot.
 *
 * With Redis, pot, base and excess are leased counts, each exact. Two figures are estimates. A process allows the first
 * few requests of a base without a loan (`unleasedMax`), so an address may pass as many more for each further process.
 * And the pot in P + E leaves out units that other processes have borrowed and not accounted for. That error is never
 * more than an eighth of L for each of them, and it only favours an address that is beyond its base.
 */
import type { Millis } from "../../domain/values/Time.ts"
import { Account, Count, windowOf } from "./Counts.ts"
import { type Limit, minuteMillis, type OrganizationLimit } from "./Limit.ts"

/** The counts of one caller within an organization: one of its addresses, or its own servers. */
export class CallerAccount {
  readonly name: string
  private readonly organization: OrganizationAccount
  private readonly ofAddress: Array<OfAddress | undefined> = []
  private limits: ReadonlyArray<OrganizationLimit> | undefined
  private list: ReadonlyArray<Counted> = []
  private isKept = false

  constructor(organization: OrganizationAccount, name: string) {
    this.name = name
    this.organization = organization
  }

  /** Keeps the account for the minute. Returns false if it is kept already. */
  keep(): boolean {
    if (this.isKept) return false
    this.isKept = true
    this.organization.addresses.set(this.name, this)
    return true
  }

  /** The counts of a request under these limits. */
  counted(limits: ReadonlyArray<OrganizationLimit>, now: Millis): ReadonlyArray<Counted> {
    // Most callers repeat one operation.
    if (this.limits !== limits) {
      this.limits = limits
      this.list = limits.map((limit) => this.under(limit, now))
    }
    for (const counted of this.list) counted.advance(now)
    return this.list
  }

  private under({ pot, base, excess }: OrganizationLimit, now: Millis): Counted {
    const inPot = this.organization.count(pot, now)
    if (base === undefined || excess === undefined) return alone(inPot)
    const known = this.ofAddress[pot.slot]
    // The limit may just have been changed. The counts stay.
    known?.relimit(base, excess)
    const holder = `${this.organization.holder}:${this.name}`
    return known ?? (this.ofAddress[pot.slot] = new OfAddress(holder, inPot, base, excess))
  }
}

/** The account of an organization: its pots, its own servers and its addresses. */
export class OrganizationAccount extends Account {
  readonly servers = new CallerAccount(this, "servers")
  readonly addresses = new Map<string, CallerAccount>()
  /** Counts the addresses for which a process has no room. */
  readonly others = new CallerAccount(this, "others")
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
   * The account of an address. A new one is not kept yet. Addresses beyond the capacity share one account in each
   * organization.
   */
  of(organization: OrganizationAccount, address: string, now: Millis): CallerAccount {
    const known = organization.addresses.get(address)
    if (known !== undefined) return known
    const minute = windowOf(now, minuteMillis, this.#minute)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#size = 0
    }
    if (this.#size >= this.#capacity) return organization.others
    return new CallerAccount(organization, address)
  }

  /**
   * Keeps the account. Called for requests that were not refused, so an organization has at most as many accounts as it
   * allows requests.
   */
  keep(account: CallerAccount): void {
    if (account.keep()) this.#size++
  }
}

/** The counts that a request is under because of one limit. */
export interface Counted {
  /** The count whose limit is shown. */
  readonly pot: Count
  /** The count of the address's base. Absent if the pot counts every request. */
  readonly base: Count | undefined
  /** The count of the address's excess, if there is a base. */
  readonly excess: Count
  /** True if the present request counts in the excess. */
  isBeyondBase: boolean
  /** Begins new windows if the present ones have ended. */
  advance(now: Millis): void
}

/** The counts of an address. It is the count of the base itself, because a process holds very many of them. */
class OfAddress extends Count implements Counted {
  readonly pot: Count
  isBeyondBase = false
  private excessLimit: Limit
  private excessCount: Count | undefined
  private advancedTo: Millis = 0

  constructor(holder: string, pot: Count, base: Limit, excess: Limit) {
    super(holder, base)
    this.pot = pot
    this.excessLimit = excess
  }

  relimit(base: Limit, excess: Limit): void {
    this.limit = base
    this.excessLimit = excess
    if (this.excessCount !== undefined) this.excessCount.limit = excess
  }

  get base(): Count {
    return this
  }

  /** Most addresses never need one. */
  get excess(): Count {
    if (this.excessCount === undefined) {
      this.excessCount = new Count(this.holder, this.excessLimit)
      this.excessCount.advance(this.advancedTo)
    }
    return this.excessCount
  }

  override advance(now: Millis): void {
    this.advancedTo = now
    super.advance(now)
    this.pot.advance(now)
    this.excessCount?.advance(now)
  }
}

/** A count that is a limit by itself. */
class Alone implements Counted {
  readonly pot: Count
  readonly base = undefined
  isBeyondBase = false

  constructor(pot: Count) {
    this.pot = pot
  }

  get excess(): Count {
    return this.pot
  }

  advance(now: Millis): void {
    this.pot.advance(now)
  }
}

/** Makes a limit of one count. */
export const alone = (count: Count): Counted => new Alone(count)
