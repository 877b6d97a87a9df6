/**
 * Decides whether a caller may make another request. A request has up to three limits of its organization, of which
 * `OrganizationLimits.ts` has the arithmetic, and those that the operator has set for one address or one consumer
 * within it. It passes if no limit is reached, and then counts under all of them. A refused request counts under none.
 *
 * One process counts in memory and never waits. With `REDIS_URL` the processes share their counts under the rules of
 * `QuotaLease.ts`. Only a request that finds no lent units waits for a loan.
 */
import { Clock, Context, Effect, Layer, Option, Random, type Scope } from "effect"
import type { RateLimits as Numbers } from "../../domain/organization/Plan.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings } from "../../settings/Settings.ts"
import { redisPrefix } from "../../store/coordination/Installation.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { Account, Accounts, AddressAccounts, type CallerAccount, OrganizationAccount } from "./Accounts.ts"
import type { Count } from "./Counts.ts"
import { isDecided, type Dice } from "./Decision.ts"
import type { QuotaLease } from "./QuotaLease.ts"
import { type LimitStatus, refused, isFull, passed } from "./LimitStatus.ts"
import { Use } from "./OrganizationLimits.ts"
import {
  type Api,
  type Limit,
  limitOfAddress,
  limitOfUnknown,
  type OrganizationLimit,
  type Rules,
  rulesFor,
  subLimitsOf
} from "./Limit.ts"
import type { Category } from "../../api/Annotations.ts"
import * as LeaseClient from "./LeaseClient.ts"
import * as Decision from "./Decision.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Organizations with requests in one minute. It is more than there are. */
const organizationsMax = 1_000_000

/** Addresses, and consumers, counted in one minute. Further addresses share one account in each organization. */
const holdersMax = 100_000

/** Loans that a request waits for before it is refused. Each has a time-out. */
const loansMax = 10

export interface Caller {
  readonly organizationId: string
  readonly rateLimits: Numbers
  /** The client's address (`countedAddress`). Absent for a request with the secret key, which has its own budget. */
  readonly address?: () => string
  /** The consumer, if limits within the organization apply to it. */
  readonly consumerId?: string
}

/** The limits of one operation. */
export interface OperationLimit {
  /** Counts a request, or refuses it. Returns an effect only if it has to wait. */
  pass(caller: Caller): LimitStatus | Effect.Effect<LimitStatus>
  /** Counts further requests for one that has passed, because its answer is large. Returns the new status. */
  charge(caller: Caller, requests: number): LimitStatus
}

export class RateLimits extends Context.Service<
  RateLimits,
  {
    ofOperation(api: Api, category: Category): OperationLimit
    /** True if the address presses on the limits of the organization, or did so within the last minute. */
    presses(organizationId: string, address: string): boolean
    /** The same for a caller of an unknown organization. Each address has the general limit of an API. */
    passUnknown(api: Api, address: string): LimitStatus
    /** The limit status of such a caller. It counts no request. */
    statusOfUnknown(api: Api, address: string): LimitStatus
    /** True if such a caller would be refused on one of the APIs. */
    isUnknownRefused(address: () => string): boolean
    /** Makes a limit of so many requests in a minute for each address, over all organizations. */
    byAddress(name: string, requestsMax: number): AddressLimit
  }
>()("usher/http/limits/RateLimits") {
  /** Shares its counts over `REDIS_URL`, if that is set. `/ready` reports if it cannot. */
  static readonly layer = Layer.effect(RateLimits)(
    Effect.gen(function* () {
      const settings = yield* Settings
      const readiness = yield* Readiness
      if (Option.isNone(settings.redisUrl)) return yield* make()
      // Loaded only if it is used, because starts are faster without it.
      const RedisLender = yield* Effect.promise(() => import("./RedisQuotaLease.ts"))
      const lender = yield* RedisLender.make(settings.redisUrl.value, { prefix: yield* redisPrefix("limits") })
      yield* readiness.remark(
        "redis",
        Effect.sync(() => (lender.isInReach() ? undefined : "out of reach; this process counts rate limits alone"))
      )
      return yield* make(lender)
    })
  )
}

/** Makes the service. It shares its counts through the lender, if there is one. */
export const make = (lender?: QuotaLease): Effect.Effect<RateLimits["Service"], never, Settings | Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Time.serverClock
    const random = yield* Random.Random
    const subLimits = subLimitsOf(yield* Settings)
    const borrowing = lender && (yield* LeaseClient.make(lender))
    const counts = makeCounts()
    const { decide, charge } = Decision.make(lender, random)
    const byAddress = (limit: Limit) => makeAddressLimit(limit, holdersMax, clock, random)
    const unknown = { consumer: byAddress(limitOfUnknown("consumer")), admin: byAddress(limitOfUnknown("admin")) }

    const decided = (rules: Rules, caller: Caller, now: Millis) => {
      const outcome = decide(counts.find(rules, caller, now), now)
      if (isDecided(outcome)) counts.keep(outcome.retryAfterSeconds === undefined)
      return outcome
    }

    /** Waits for the loans and decides again, in the window of that moment. */
    const afterLoans = Effect.fnUntraced(function* (rules: Rules, caller: Caller, first: ReadonlyArray<Count>) {
      let inNeed = first
      for (let loans = 0; loans < loansMax; loans++) {
        yield* Effect.forEach(inNeed, borrowing!.borrow, { concurrency: "unbounded", discard: true })
        const now = clock.currentTimeMillisUnsafe()
        const outcome = decided(rules, caller, now)
        if (isDecided(outcome)) return outcome
        inNeed = outcome
      }
      return refused(inNeed[0]!, clock.currentTimeMillisUnsafe(), random.nextDoubleUnsafe())
    })

    return {
      ofOperation: (api, category) => {
        const known = new WeakMap<Numbers, Rules>()
        const compile = (numbers: Numbers): Rules => {
          const rules = rulesFor(api, category, numbers, subLimits)
          known.set(numbers, rules)
          return rules
        }
        const rulesOf = ({ rateLimits }: Caller): Rules => known.get(rateLimits) ?? compile(rateLimits)
        return {
          charge: (caller, requests) => {
            const now = clock.currentTimeMillisUnsafe()
            return charge(counts.find(rulesOf(caller), caller, now), requests, now)
          },
          pass: (caller) => {
            const now = clock.currentTimeMillisUnsafe()
            const rules = rulesOf(caller)
            const outcome = decided(rules, caller, now)
            if (isDecided(outcome)) return outcome
            return afterLoans(rules, caller, outcome)
          }
        }
      },
      presses: (organizationId, address) => counts.presses(organizationId, address, clock.currentTimeMillisUnsafe()),
      passUnknown: (api, address) => unknown[api].pass(address),
      statusOfUnknown: (api, address) => unknown[api].status(address),
      isUnknownRefused: (address) => unknown.consumer.isRefused(address) || unknown.admin.isRefused(address),
      byAddress: (name, requestsMax) => byAddress(limitOfAddress(name, requestsMax))
    }
  })

/** Makes the function that finds the counts a request is under, and the one that keeps them. */
const makeCounts = () => {
  const organizations = new Accounts(organizationsMax, (holder) => new OrganizationAccount(holder))
  const addresses = new AddressAccounts(holdersMax)
  const holders = new Accounts(holdersMax, (holder) => new Account(holder))
  /** The accounts of the last request, if it is an address's. */
  let last: { readonly organization: OrganizationAccount; readonly account: CallerAccount } | undefined

  const within = (holder: string, limits: ReadonlyArray<OrganizationLimit>, now: Millis): ReadonlyArray<Use> => {
    if (limits.length === 0) return []
    const account = holders.of(holder, now)
    return account === undefined ? [] : limits.map((limit) => new Use(account.counts(limit, now)))
  }

  return {
    find: (rules: Rules, { organizationId, consumerId, address: addressOf }: Caller, now: Millis) => {
      last = undefined
      const organization = organizations.of(organizationId, now)
      if (organization === undefined) return []
      if (addressOf === undefined) return organization.servers.under(rules.servers, now)
      const address = addressOf()
      const account = addresses.of(organization, address, now)
      last = { organization, account }
      const uses = account.under(rules.organization, now)
      if (rules.address.length === 0 && rules.consumer.length === 0) return uses
      return [
        ...uses,
        ...within(`${organizationId}:${address}`, rules.address, now),
        ...(consumerId === undefined ? [] : within(`${organizationId}:${consumerId}`, rules.consumer, now))
      ]
    },
    presses: (organizationId: string, address: string, now: Millis): boolean =>
      organizations.peek(organizationId)?.presses(address, now) ?? false,
    /** Keeps the account that was found last, if its address is to be remembered. */
    keep: (hasPassed: boolean) => {
      if (last !== undefined) addresses.keep(last.organization, last.account, hasPassed)
    }
  }
}

export interface AddressLimit {
  /** Counts a request, or refuses it. */
  pass(address: string): LimitStatus
  /** The address's status. It counts no request. */
  status(address: string): LimitStatus
  /** True if the address would be refused. */
  isRefused(address: () => string): boolean
}

/** Makes a limit. The addresses beyond the capacity of a minute share one count. */
export const makeAddressLimit = (limit: Limit, capacity: number, clock: Clock.Clock, random: Dice): AddressLimit => {
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
