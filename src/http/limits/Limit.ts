/**
 * The limits of an operation: those of its category, with a burst limit if it has one, and the general limit of its
 * API. The endpoint declares the category; without one it is general.
 */
import type { Category } from "../../api/Annotations.ts"
import { defaultRateLimits, type RateLimits } from "../../domain/organization/Plan.ts"
import type { Settings } from "../../settings/Settings.ts"

/** All windows divide the minute. */
export const minuteMillis = 60_000

/** The two APIs. */
export type Api = "consumer" | "admin"

type LimitName = keyof RateLimits

const limitsByCategory = {
  general: [],
  otpRequest: ["otpRequestsPerMinute"],
  externalAuthorization: ["externalAuthorizationsPerMinute"],
  queueEntry: ["queueEntriesPerSecond", "queueEntriesPerMinute"],
  auctionBid: ["auctionBidsPerSecond", "auctionBidsPerMinute"],
  drawEntry: ["drawEntriesPerSecond", "drawEntriesPerMinute"],
  analyticsQuery: ["analyticsQueriesPerMinute"]
} as const satisfies { readonly [C in Category]: ReadonlyArray<LimitName> }

const generalLimits = { consumer: "consumerApiPerMinute", admin: "adminApiPerMinute" } as const

/** A number of requests in each window of this length. */
export interface Limit {
  /** The name of its counts, also in Redis. */
  readonly name: string
  /** The index of its counts within an account. */
  readonly slot: number
  readonly requestsMax: number
  readonly windowMillis: number
}

/** One limit of an organization. `OrganizationLimits.ts` has the arithmetic of its three counts. */
export interface OrganizationLimit {
  /** The requests of all callers while the organization's figure has room. */
  readonly figure: Limit
  /** The first requests of addresses. Absent if addresses are not told apart. */
  readonly first?: Limit
  /** The first requests of addresses when the figure is used up. Absent if nothing is reserved for them. */
  readonly reserve?: Limit
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
  readonly address: ReadonlyArray<OrganizationLimit>
  readonly consumer: ReadonlyArray<OrganizationLimit>
}

const limitNames = Object.keys(defaultRateLimits)
const slots = new Map(limitNames.map((name, slot) => [name, slot]))

/** The limits of operations with this API and category, without those that can never be the first to be reached. */
export function rulesFor(
  api: Api,
  category: Category,
  rateLimits: RateLimits,
  { perAddress, perConsumer, addressShare }: SubLimits
): Rules {
  const names: ReadonlyArray<LimitName> = [...limitsByCategory[category], generalLimits[api]]
  const limits = limitsOf(names, rateLimits)
  const isShared = addressShare >= 1
  return {
    organization: limits.map((figure) => (isShared ? { figure } : withReserve(figure, addressShare))),
    servers: limits.map((figure) => ({ figure: isShared ? figure : forServers(figure) })),
    address: within(names, rateLimits, perAddress),
    consumer: within(names, rateLimits, perConsumer)
  }
}

/**
 * The limits by the minute, lowered to a share of them. An organization without a limit has the share of the default
 * plan's. The whole share adds nothing.
 */
const within = (
  names: ReadonlyArray<LimitName>,
  rateLimits: RateLimits,
  share: number
): ReadonlyArray<OrganizationLimit> =>
  share >= 1
    ? []
    : limitsOf(names, { ...defaultRateLimits, ...rateLimits })
        .filter(({ windowMillis }) => windowMillis === minuteMillis)
        .map((limit) => ({ figure: { ...limit, requestsMax: sharedPart(limit.requestsMax, share) } }))

/** The limit with what is reserved for the first requests of addresses. */
function withReserve(figure: Limit, addressShare: number): OrganizationLimit {
  const reserved = figure.requestsMax - sharedPart(figure.requestsMax, addressShare)
  if (reserved <= 0) return { figure }
  return { figure, first: partOf(figure, "first", figure.requestsMax), reserve: partOf(figure, "reserve", reserved) }
}

/** The requests of a figure that are this share of it, 1 or more. The margin is for shares without an exact binary form. */
const sharedPart = (requestsMax: number, share: number): number => Math.max(1, Math.floor(requestsMax * share + 1e-9))

/** The limit with the counts of requests with the secret key. */
const forServers = (figure: Limit): Limit => ({
  ...partOf(figure, "servers", figure.requestsMax),
  slot: figure.slot + limitNames.length
})

/** A limit of the same window with a count of its own. */
const partOf = (figure: Limit, part: string, requestsMax: number): Limit => ({
  ...figure,
  name: `${figure.name}.${part}`,
  requestsMax
})

/** Shares of an organization's limits. */
export interface SubLimits {
  /** With which the requests of addresses that press count for the first requests of others. */
  readonly addressShare: number
  /** That one client address may use; 1: all of them. */
  readonly perAddress: number
  /** That one consumer may use; 1: all of them. */
  readonly perConsumer: number
}

/** The shares that the operator has set. */
export const subLimitsOf = (settings: Settings["Service"]): SubLimits => ({
  addressShare: settings.limitAddressShare,
  perAddress: settings.limitPerAddress,
  perConsumer: settings.limitPerConsumer
})

/** A limit in each minute on the requests of one address, over all organizations. */
export const limitOfAddress = (name: string, requestsMax: number): Limit => ({
  name,
  slot: 0,
  requestsMax,
  windowMillis: minuteMillis
})

/** The general limit of an API for callers of an unknown organization, by address. */
export const limitOfUnknown = (api: Api): Limit => limitsOf([generalLimits[api]], defaultRateLimits)[0]!

const limitsOf = (names: ReadonlyArray<LimitName>, rateLimits: RateLimits): ReadonlyArray<Limit> =>
  names.flatMap((name) => {
    const requestsMax = rateLimits[name]
    if (requestsMax === undefined) return []
    const windowMillis = name.endsWith("PerSecond") ? 1_000 : minuteMillis
    return { name, slot: slots.get(name)!, requestsMax, windowMillis }
  })
