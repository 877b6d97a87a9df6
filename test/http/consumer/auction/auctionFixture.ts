import { Effect } from "effect"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"

/** Returns the instant `seconds` seconds from now, as text. */
export const soon = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

/** Creates an auction of the brand. Defaults: english, from 10 in steps of 1, for an hour. */
export const anAuction = Effect.fnUntraced(function* (settings: object = {}) {
  const { admin, brand } = yield* Usher
  const created = (path: string, body: object) =>
    Effect.map(admin({ method: "POST", path: `/api${path}`, headers: asServer(brand.secretKey), body }), (answer) => {
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
      return answer.body.id as string
    })
  const experienceId = yield* created("/experiences", { name: "Drop", currencyCode: "EUR" })
  const sequenceId = yield* created("/sequences", { experienceId, name: "Collectors" })
  const lot = { name: "Lot", startPrice: "10", minBidIncrement: "1", settleAt: soon(3600) }
  return yield* inAuction(yield* created("/auctions", { ...lot, sequenceId, ...settings }))
})

/** Settings of a dutch auction: from 100 down to 40 in steps of 15 per hour, two units. */
export const aDutchAuction = (settings: object = {}) =>
  anAuction({
    auctionType: "dutch",
    quantity: 2,
    startPrice: "100",
    floorPrice: "40",
    priceDropAmount: "15",
    priceDropIntervalSeconds: 3600,
    minBidIncrement: null,
    ...settings
  })

/** The requests of a consumer, an anonymous caller, and the organization's server in one auction. */
export const inAuction = Effect.fnUntraced(function* (auctionId: string) {
  const { admin, consumer, brand } = yield* Usher
  const path = (operation: string) => `/api/auctions/${auctionId}${operation}`
  const read = (operation: string) =>
    consumer({ path: path(operation), headers: { "x-publishable-key": brand.publishableKey } })
  const byServer = (operation: string) => (body: object) =>
    consumer({ method: "POST", path: path(operation), headers: asServer(brand.secretKey), body })
  const byConsumer = (method: string, operation: string, guest: Guest, body?: unknown) =>
    consumer({ method, path: path(operation), headers: asConsumer(brand.publishableKey, guest.accessToken), body })
  const byAdmin = (method: string, operation = "", body?: object) =>
    admin({ method, path: path(operation), headers: asServer(brand.secretKey), body })
  return {
    id: auctionId,
    get: read(""),
    bids: (query = "") => read(`/bids${query}`),
    history: (query = "") => read(`/bids/history${query}`),
    highestBid: read("/highest-bid"),
    currentPrice: read("/current-price"),
    enter: (guest: Guest) => byConsumer("POST", "/enter", guest),
    /** A bid with this amount as text. Without an amount the body is empty. */
    bid: (guest: Guest, amount?: unknown, confirmed?: unknown) =>
      byConsumer("POST", "/bid", guest, amount === undefined ? undefined : { amount, confirmed }),
    status: (guest: Guest) => byConsumer("GET", "/status", guest),
    deny: byServer("/deny"),
    complete: byServer("/complete"),
    validate: byServer("/validate"),
    record: byAdmin("GET"),
    change: (body: object) => byAdmin("PUT", "", body),
    end: byAdmin("POST", "/end"),
    recorded: admin({ path: `/api/distributions/${auctionId}/history?first=100`, headers: asServer(brand.secretKey) })
  }
})
