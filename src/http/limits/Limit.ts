/**
 * The limits of an operation (interface document 8.1; completions 5): those of its category, with a burst limit if it
 * has one, and the general limit of its API. The endpoint declares the category; without one it is general.
 */
import { Context } from "effect"
import { defaultRateLimits, type RateLimits } from "../../domain/organization/Plan.ts"
import type { Settings } from "../../settings/Settings.ts"

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
export const RateCategory = Context.Reference<Category>("usher/http/RateCategory", { defaultValue: () => "general" })

const generalLimits = { consumer: "consumerApiPerMinute", admin: "adminApiPerMinute" } as const

/** A number of requests in each window of this length. */
export interface Limit {
  readonly name: LimitName
  /** The index of its count within an account. */
  readonly slot: number
  readonly requestsMax: number
  readonly windowMillis: number
}

/**
 * The limits of one request: those of the organization, and within it those of its client's address and of its
 * consumer.
 */
export interface Rules {
  readonly organization: ReadonlyArray<Limit>
  readonly address: ReadonlyArray<Limit>
  readonly consumer: ReadonlyArray<Limit>
}

const slots = new Map(Object.keys(defaultRateLimits).map((name, slot) => [name, slot]))

/** The limits of operations with this API and category, without those that can never be the first to be reached. */
export function rulesFor(
  api: Api,
  category: Category,
  rateLimits: RateLimits,
  { perAddress, perConsumer }: SubLimits
): Rules {
  const names: ReadonlyArray<LimitName> = [...limitsByCategory[category], generalLimits[api]]
  const within = (lowered: RateLimits) =>
    limitsOf(names, lowered).filter(({ name, requestsMax }) => requestsMax < (rateLimits[name] ?? Infinity))
  return { organization: limitsOf(names, rateLimits), address: within(perAddress), consumer: within(perConsumer) }
}

/** The share of an organization's limits that one client address and one consumer may use. Absent: all of them. */
export interface SubLimits {
  readonly perAddress: RateLimits
  readonly perConsumer: RateLimits
}

/** The limits within an organization, as the operator has set them. */
export function subLimitsOf(settings: Settings["Service"]): SubLimits {
  return {
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

/** The general limit of an API for callers of an unknown organization, by address. */
export const limitOfUnknown = (api: Api): Limit => limitsOf([generalLimits[api]], defaultRateLimits)[0]!

const limitsOf = (names: ReadonlyArray<LimitName>, rateLimits: RateLimits): ReadonlyArray<Limit> =>
  names.flatMap((name) => {
    const requestsMax = rateLimits[name]
    if (requestsMax === undefined) return []
    return { name, slot: slots.get(name)!, requestsMax, windowMillis: name.endsWith("PerSecond") ? 1_000 : 60_000 }
  })

const present = (numbers: { readonly [Name in LimitName]?: number | undefined }): RateLimits =>
  Object.fromEntries(Object.entries(numbers).filter(([_, number]) => number !== undefined))
