import { Effect } from "effect"
import { openStream } from "../../support/eventStream.ts"
import { type Answer, asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"

/** Creates a record of the brand through its server, and returns the whole record. */
export const created = Effect.fnUntraced(function* (path: string, body: object) {
  const { admin, brand } = yield* Usher
  const answer = yield* admin({ method: "POST", path: `/api${path}`, headers: asServer(brand.secretKey), body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body as { readonly id: string; readonly [field: string]: any }
})

/** Creates a sequence of the brand, below an experience of this name. */
export const aSequence = Effect.fnUntraced(function* (experience = "Drop") {
  const { id: experienceId } = yield* created("/experiences", { name: experience })
  return (yield* created("/sequences", { experienceId, name: "General sale" })).id
})

/** Creates a mechanism of the brand. The path names its kind. Below a new sequence unless one is named. */
export const aMechanism = Effect.fnUntraced(function* (
  group: string,
  settings: { readonly sequenceId?: string; readonly [name: string]: unknown } = {}
) {
  const sequenceId = settings.sequenceId ?? (yield* aSequence())
  return (yield* created(`/${group}`, { name: "Main", ...settings, sequenceId })).id
})

/** The requests of consumers and the organization's server in one mechanism. */
export const inMechanism = Effect.fnUntraced(function* (group: string, id: string) {
  const { admin, brand, consumer, consumerUrl } = yield* Usher
  const path = (operation: string) => `/api/${group}/${id}${operation}`
  return {
    get: consumer({ path: path(""), headers: { "x-publishable-key": brand.publishableKey } }),
    byConsumer:
      (method: string, operation: string) =>
      (guest: Guest, body?: object): Effect.Effect<Answer> =>
        consumer({ method, path: path(operation), headers: asConsumer(brand.publishableKey, guest.accessToken), body }),
    /** Opens the consumer's live stream. */
    follow: (guest: Guest) =>
      openStream(consumerUrl, path("/events"), asConsumer(brand.publishableKey, guest.accessToken)),
    byServer: (operation: string) => (body: object) =>
      consumer({ method: "POST", path: path(operation), headers: asServer(brand.secretKey), body }),
    byAdmin: (method: string, operation = "", body?: object) =>
      admin({ method, path: path(operation), headers: asServer(brand.secretKey), body })
  }
})

/** Creates a queue that admits by hand. Its grants last for an hour. */
export const aQueueByHand = Effect.fnUntraced(function* (settings: object = {}) {
  const id = yield* aMechanism("queues", { admitRate: 0, admissionExpirationSeconds: 3600, ...settings })
  const queue = yield* inMechanism("queues", id)
  const enter = queue.byConsumer("POST", "/enter")
  const admit = queue.byServer("/admit")
  return {
    id,
    enter,
    leave: queue.byConsumer("POST", "/leave"),
    complete: queue.byServer("/complete"),
    deny: queue.byServer("/deny"),
    /** Lets the consumer in. Returns its token. */
    granted: Effect.fnUntraced(function* (guest: Guest) {
      yield* enter(guest)
      return (yield* admit({ consumerId: guest.consumerId })).body.admissionGrant as string
    })
  }
})

/** Returns the instant `seconds` seconds from now, as text. */
export const soon = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

export const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
