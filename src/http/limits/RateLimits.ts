/**
 * Decides whether a caller may make another request (interface document 8.1, 8.2; completions 5). A request has up to
 * three limits of its organization, and those that the operator has set for one address or one consumer within it. It
 * passes if no limit is reached, and then counts under all of them. A refused request counts under none.
 *
 * One process counts in memory and never waits. With `REDIS_URL` the processes share their counts under the rules of
 * `QuotaLease.ts`. Only a request that finds no lent units waits for a loan.
 */
import { Clock, Context, Effect, Layer, Option, Random, type Scope } from "effect"
import type { RateLimits as Numbers } from "../../domain/organization/Plan.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings } from "../../settings/Settings.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as LeaseClient from "./LeaseClient.ts"
import { Accounts, type Count } from "./Counts.ts"
import type { QuotaLease } from "./QuotaLease.ts"
import { isFull, type LimitStatus, refused, standing, unlimited } from "./LimitStatus.ts"
import { type Api, type Category, type Limit, limitOfUnknown, type Rules, rulesFor, subLimitsOf } from "./Limit.ts"

/** Organizations with requests in one minute. It is more than there are. */
const organizationsMax = 1_000_000

/** Addresses and consumers counted in one minute. Further ones have only the limits of their organization. */
const holdersMax = 100_000

/** Loans that a request waits for before it is refused. Each has a time-out. */
const loansMax = 10

/** Numbers from 0 to 1. */
type Dice = Effect.Success<typeof Random.Random>

/** The caller of a request. */
export interface Caller {
  readonly organizationId: string
  readonly rateLimits: Numbers
  /** The client's address and the consumer, if limits within the organization apply to them. */
  readonly address?: () => string
  readonly consumerId?: string
}

/** The limits of one operation. */
export interface Gate {
  /** Counts a request, or refuses it. Returns an effect only if it has to wait. */
  pass(caller: Caller): LimitStatus | Effect.Effect<LimitStatus>
}

export class RateLimits extends Context.Service<
  RateLimits,
  {
    gate(api: Api, category: Category): Gate
    /** The same for a caller of an unknown organization. Each address has the general limit of an API. */
    passUnknown(api: Api, address: string): LimitStatus
    /** The limit status of such a caller. It counts no request. */
    standingOfUnknown(api: Api, address: string): LimitStatus
    /** True if such a caller would be refused on one of the APIs. */
    isUnknownRefused(address: () => string): boolean
  }
>()("usher/http/limits/RateLimits") {
  /** Shares its counts over `REDIS_URL`, if that is set. `/ready` reports if it cannot. */
  static readonly layer = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const settings = yield* Settings
      const readiness = yield* Readiness
      if (Option.isNone(settings.redisUrl)) return yield* make()
      // Loaded only if it is used, because starts are faster without it.
      const RedisLender = yield* Effect.promise(() => import("./RedisQuotaLease.ts"))
      const lender = yield* RedisLender.make(settings.redisUrl.value)
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
    const clock = yield* Clock.Clock
    const random = yield* Random.Random
    const subLimits = subLimitsOf(yield* Settings)
    const borrowing = lender && (yield* LeaseClient.make(lender))
    const countsOf = makeCountsOf()
    const decide = makeDecide(lender, random)

    /** Waits for the loans and decides again, in the window of that moment. */
    const afterLoans = Effect.fnUntraced(function* (
      counts: (now: Millis) => ReadonlyArray<Count>,
      first: ReadonlyArray<Count>
    ) {
      let inNeed = first
      for (let loans = 0; loans < loansMax; loans++) {
        yield* Effect.forEach(inNeed, borrowing!.borrow, { concurrency: "unbounded", discard: true })
        const now = clock.currentTimeMillisUnsafe()
        const outcome = decide(counts(now), now)
        if (isStanding(outcome)) return outcome
        inNeed = outcome
      }
      return refused(inNeed[0]!, clock.currentTimeMillisUnsafe(), random.nextDoubleUnsafe())
    })

    return {
      gate: (api, category) => {
        const known = new WeakMap<Numbers, Rules>()
        const compile = (numbers: Numbers): Rules => {
          const rules = rulesFor(api, category, numbers, subLimits)
          known.set(numbers, rules)
          return rules
        }
        return {
          pass: (caller) => {
            const now = clock.currentTimeMillisUnsafe()
            const rules = known.get(caller.rateLimits) ?? compile(caller.rateLimits)
            const outcome = decide(countsOf(rules, caller, now), now)
            if (isStanding(outcome)) return outcome
            return afterLoans((later) => countsOf(rules, caller, later), outcome)
          }
        }
      },
      ...makeUnknown(clock, random)
    }
  })

/** Makes the function that finds the counts a request is under. */
const makeCountsOf = () => {
  const organizations = new Accounts(organizationsMax)
  const holders = new Accounts(holdersMax)

  return (rules: Rules, caller: Caller, now: Millis): ReadonlyArray<Count> => {
    const counts: Array<Count> = []
    collect(organizations, caller.organizationId, rules.organization, counts, now)
    if (rules.address.length > 0 && caller.address !== undefined) {
      collect(holders, `${caller.organizationId}:${caller.address()}`, rules.address, counts, now)
    }
    if (rules.consumer.length > 0 && caller.consumerId !== undefined) {
      collect(holders, `${caller.organizationId}:${caller.consumerId}`, rules.consumer, counts, now)
    }
    return counts
  }
}

/**
 * Makes the function that lets a request pass or refuses it. It returns the counts that need a loan first, if any do.
 */
const makeDecide = (lender: QuotaLease | undefined, random: Dice) => {
  /** Whether the count has room for a request. It is unknown until a loan has been made. */
  const roomIn = (count: Count): "room" | "full" | "unknown" => {
    if (isFull(count)) return "full"
    if (lender === undefined) return "room"
    const share = count.shared()
    if (share.spendable > 0) return "room"
    if (share.isExhausted) return "full"
    return lender.isInReach() ? "unknown" : "room"
  }

  const spend = (count: Count): void => {
    count.used++
    if (count.share === undefined) return
    if (count.share.spendable > 0) count.share.spendable--
    else count.share.local++
  }

  const remainingIn = ({ limit, used, share }: Count): number => {
    const here = limit.requestsMax - used
    if (share === undefined || lender === undefined || !lender.isInReach()) return here
    return Math.min(here, share.left + share.spendable)
  }

  return (counts: ReadonlyArray<Count>, now: Millis): LimitStatus | ReadonlyArray<Count> => {
    let inNeed: Array<Count> | undefined
    let full: Count | undefined
    for (const count of counts) {
      const room = roomIn(count)
      if (room === "full" && (full === undefined || count.endsAt > full.endsAt)) full = count
      else if (room === "unknown") (inNeed ??= []).push(count)
    }
    if (full !== undefined) return refused(full, now, random.nextDoubleUnsafe())
    if (inNeed !== undefined) return inNeed
    let least: Count | undefined
    let remaining = Infinity
    for (const count of counts) {
      spend(count)
      const left = remainingIn(count)
      if (left < remaining) {
        remaining = left
        least = count
      }
    }
    return least === undefined ? unlimited(now) : standing(least, remaining)
  }
}

/** Makes the limits of callers of an unknown organization. */
const makeUnknown = (clock: Clock.Clock, random: Dice) => {
  const unknowns = new Accounts(holdersMax)
  const overflow = new Accounts(1)
  const unknownLimits = { consumer: limitOfUnknown("consumer"), admin: limitOfUnknown("admin") }
  let unknownRefusedUntil: Millis = 0

  /** The count of such a caller. Callers beyond `holdersMax` share one count. */
  const countOfUnknown = (api: Api, address: string, now: Millis): Count => {
    const account = unknowns.of(address, now) ?? overflow.of("", now)!
    return account.count(unknownLimits[api], now)
  }

  return {
    passUnknown: (api, address) => {
      const now = clock.currentTimeMillisUnsafe()
      const count = countOfUnknown(api, address, now)
      if (isFull(count)) {
        unknownRefusedUntil = count.endsAt
        return refused(count, now, random.nextDoubleUnsafe())
      }
      count.used++
      return standing(count, count.limit.requestsMax - count.used)
    },
    standingOfUnknown: (api, address) => {
      const count = countOfUnknown(api, address, clock.currentTimeMillisUnsafe())
      return standing(count, count.limit.requestsMax - count.used)
    },
    isUnknownRefused: (address) => {
      if (unknownRefusedUntil === 0) return false
      const now = clock.currentTimeMillisUnsafe()
      if (now >= unknownRefusedUntil) {
        unknownRefusedUntil = 0
        return false
      }
      const of = address()
      return isFull(countOfUnknown("consumer", of, now)) || isFull(countOfUnknown("admin", of, now))
    }
  } satisfies Partial<RateLimits["Service"]>
}

function collect(
  accounts: Accounts,
  holder: string,
  limits: ReadonlyArray<Limit>,
  counts: Array<Count>,
  now: Millis
): void {
  if (limits.length === 0) return
  const account = accounts.of(holder, now)
  if (account === undefined) return
  for (const limit of limits) counts.push(account.count(limit, now))
}

const isStanding = (outcome: LimitStatus | ReadonlyArray<Count>): outcome is LimitStatus => "limit" in outcome
