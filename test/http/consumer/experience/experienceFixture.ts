import { Effect } from "effect"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"

/** Creates or changes a record on the Admin API as the organization's server. Dies unless it succeeds. */
export const admin = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const usher = yield* Usher
  const headers = asServer(usher.brand.secretKey)
  const answer = yield* usher.admin({ method, path: `/api${path}`, headers, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
})

export const anExperience = (settings: object = {}) =>
  Effect.map(admin("POST", "/experiences", { name: "Drop", ...settings }), ({ id }) => id as string)

export const aSequence = (experienceId: string, settings: object = {}) =>
  Effect.map(admin("POST", "/sequences", { experienceId, name: "Sale", ...settings }), ({ id }) => id as string)

const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

/** Open mechanisms of every kind, by the group in their path, each with its entering operation. */
export const kinds: {
  readonly [group: string]: { readonly settings: () => object; readonly entry: string; readonly body?: object }
} = {
  queues: { settings: () => ({ admitRate: 0 }), entry: "enter" },
  draws: { settings: () => ({ drawAt: soon(3600), winnerCount: 1 }), entry: "enter" },
  auctions: {
    settings: () => ({ settleAt: soon(3600), startPrice: "10", reservePrice: "4711.11" }),
    entry: "bid",
    body: { amount: "12" }
  },
  appointments: {
    settings: () => ({ slotDurationMinutes: 30, slotsFrom: soon(0), slotsUntil: soon(14 * 86_400) }),
    entry: "book"
  },
  "timed-releases": { settings: () => ({ capacity: 10 }), entry: "enter" },
  waitlists: { settings: () => ({ capacity: 10 }), entry: "enter" }
}

/** Creates a mechanism of each kind below the sequence, and returns their ids by group. */
export const oneOfEach = Effect.fnUntraced(function* (sequenceId: string) {
  const ids: { [group: string]: string } = {}
  for (const [group, { settings }] of Object.entries(kinds)) {
    ids[group] = (yield* admin("POST", `/${group}`, { sequenceId, name: group, ...settings() })).id
  }
  return ids
})

/** Creates an audience of these consumers. */
export const anAudience = Effect.fnUntraced(function* (members: ReadonlyArray<Guest>) {
  const { id } = yield* admin("POST", "/audiences", { name: "Friends" })
  const consumerIds = members.map(({ consumerId }) => consumerId)
  if (consumerIds.length > 0) yield* admin("POST", `/audiences/${id}/members`, { consumerIds })
  return id as string
})

/** The requests of a consumer in an experience. */
export const inExperience = Effect.fnUntraced(function* (experienceId: string) {
  const { consumer, brand } = yield* Usher
  const path = (operation: string) => `/api/experiences/${experienceId}${operation}`
  const as = (guest: Guest) => asConsumer(brand.publishableKey, guest.accessToken)
  return {
    get: consumer({ path: path(""), headers: { "x-publishable-key": brand.publishableKey } }),
    enter: (guest: Guest, body?: unknown) =>
      consumer({ method: "POST", path: path("/enter"), headers: as(guest), ...(body !== undefined && { body }) }),
    leave: (guest: Guest) => consumer({ method: "DELETE", path: path("/leave"), headers: as(guest) })
  }
})
