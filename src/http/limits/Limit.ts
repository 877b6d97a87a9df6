/**
 * The limits of an operation (interface document 8.1; completions 5): those of its category, with a burst limit if it
 * has one, and the general limit of its API. The endpoint declares the category; without one it is general.
 */
import { Context } from "effect"
import { defaultRateLimits, type RateLimits } from "../../domain/organization/Plan.ts"
import type { Settings } from "../../settings/Settings.ts"

/** All windows divide the minute. */
export const minuteMillis = 60_000

/** The two APIs. */
export type Api = "consumer" | "admin"

type LimitName = keyof RateLimits

/** The categories with limits of their own. */
const limitsByCategory = {
  general: [],
  otpRequest: ["otpRequestsPerMinute"],
  externalAuthorization: ["externalAuthorizationsPerMinute"],
  queueEntry: ["queueEntriesPerSecond", "queueEntriesPerMinute"],
  auctionBid: ["auctionBidsPerSecond", "auctionBidsPerMinute"],
  drawEntry: ["drawEntriesPerSecond", "drawEntriesPerMinute"],
  analyticsQuery: ["analyticsQueriesPerMinute"]
} as const satisfies { readonly [category: string]: ReadonlyArray<LimitName> }

export type Category = keyof typeof limitsByCategory

/** An endpoint's category: `.annotate(RateCategory, "queueEntry")` where the endpoint is declared. */
export const RateCategory = Context.Reference<Category>("usher/http/limits/RateCategory", {
  defaultValue: () => "general"
})

const generalLimits = { consumer: "consumerApiPerMinute", admin: "adminApiPerMinute" } as const

/** A number of requests in each window of this length. */
export interface Limit {
  /** The name of its counts, also in Redis. */
  readonly name: string
  /** The index of its count within an account. */
  readonly slot: number
  readonly requestsMax: number
  readonly windowMillis: number
  /** Requests that a process counts before it asks for a loan. */
  readonly unleasedMax: number
}

/**
 * One limit of an organization. `Contributions.ts` has the arithmetic of `pot`, `base` and `excess`.
 */
export interface OrganizationLimit {
  /** The requests of all callers together. */
  readonly pot: Limit
  /** The requests of one address that the pot counts too. Absent if the pot counts all of them. */
  readonly base?: Limit
  /** The requests of one address beyond its base. */
  readonly excess?: Limit
}

/**
 * The limits of one request: those of the organization, and within it those of its client's address and of its
 * consumer.
 */
export interface Rules {
  /** With the public key. */
  readonly organization: ReadonlyArray<OrganizationLimit>
  /** With the secret key. */
  readonly servers: ReadonlyArray<OrganizationLimit>
  readonly address: ReadonlyArray<Limit>
  readonly consumer: ReadonlyArray<Limit>
}

const limitNames = Object.keys(defaultRateLimits)
const slots = new Map(limitNames.map((name, slot) => [name, slot]))

/** A base has at most so many requests without a loan, and at most one in `unleasedShare`. */
const unleasedRequestsMax = 8
const unleasedShare = 16

/** The limits of operations with this API and category, without those that can never be the first to be reached. */
export function rulesFor(
  api: Api,
  category: Category,
  rateLimits: RateLimits,
  { perAddress, perConsumer, addressShare }: SubLimits
): Rules {
  const names: ReadonlyArray<LimitName> = [...limitsByCategory[category], generalLimits[api]]
  const within = (lowered: RateLimits) =>
    limitsOf(names, lowered).filter(
      ({ name, requestsMax }) => requestsMax < (rateLimits[name as LimitName] ?? Infinity)
    )
  const limits = limitsOf(names, rateLimits)
  const isOnePot = addressShare >= 1
  return {
    organization: limits.map((pot) => (isOnePot ? { pot } : shared(pot, addressShare))),
    servers: limits.map((pot) => ({ pot: isOnePot ? pot : partOf(pot, "servers", 1, pot.requestsMax) })),
    address: within(perAddress),
    consumer: within(perConsumer)
  }
}

/** The limit with its base and its excess. */
function shared(pot: Limit, addressShare: number): OrganizationLimit {
  // The margin is for shares without an exact binary form.
  const base = Math.max(1, Math.floor(pot.requestsMax * addressShare + 1e-9))
  if (base >= pot.requestsMax) return { pot }
  const unleasedMax = Math.min(unleasedRequestsMax, Math.floor(base / unleasedShare))
  return {
    pot,
    base: { ...partOf(pot, "base", 0, base), unleasedMax },
    excess: partOf(pot, "excess", 1, pot.requestsMax - base)
  }
}

/** A limit of the same window. `offset` separates its counts from others in the same account. */
function partOf(pot: Limit, part: string, offset: number, requestsMax: number): Limit {
  return { ...pot, name: `${pot.name}.${part}`, slot: pot.slot + offset * limitNames.length, requestsMax }
}

/** The share of an organization's limits that one client address and one consumer may use. Absent: all of them. */
export interface SubLimits {
  /** The share of a limit with which the requests of one address count for other addresses. */
  readonly addressShare: number
  readonly perAddress: RateLimits
  readonly perConsumer: RateLimits
}

/** The limits within an organization, as the operator has set them. */
export function subLimitsOf(settings: Settings["Service"]): SubLimits {
  return {
    addressShare: settings.limitAddressShare,
    perAddress: present({
      consumerApiPerMinute: settings.consumerApiPerAddress,
      otpRequestsPerMinute: settings.otpRequestsPerAddress,
      queueEntriesPerMinute: settings.queueEntriesPerAddress,
      drawEntriesPerMinute: settings.drawEntriesPerAddress,
      auctionBidsPerMinute: settings.auctionBidsPerAddress
    }),
    perConsumer: present({
      consumerApiPerMinute: settings.consumerApiPerConsumer,
      queueEntriesPerMinute: settings.queueEntriesPerConsumer,
      drawEntriesPerMinute: settings.drawEntriesPerConsumer,
      auctionBidsPerMinute: settings.auctionBidsPerConsumer
    })
  }
}

/** A limit in each minute on the requests of one address, over all organizations. */
export const limitOfAddress = (name: string, requestsMax: number): Limit => ({
  name,
  slot: 0,
  requestsMax,
  windowMillis: minuteMillis,
  unleasedMax: 0
})

/** The general limit of an API for callers of an unknown organization, by address. */
export const limitOfUnknown = (api: Api): Limit => limitsOf([generalLimits[api]], defaultRateLimits)[0]!

const limitsOf = (names: ReadonlyArray<LimitName>, rateLimits: RateLimits): ReadonlyArray<Limit> =>
  names.flatMap((name) => {
    const requestsMax = rateLimits[name]
    if (requestsMax === undefined) return []
    const windowMillis = name.endsWith("PerSecond") ? 1_000 : minuteMillis
    return { name, slot: slots.get(name)!, requestsMax, windowMillis, unleasedMax: 0 }
  })

const present = (numbers: { readonly [Name in LimitName]?: number | undefined }): RateLimits =>
  Object.fromEntries(Object.entries(numbers).filter(([_, number]) => number !== undefined))
