/**
 * Delivers webhooks. Each round takes what a webhook still has to deliver, sends it, and records the results. A lease
 * for each webhook selects the process that does the work, of all that share the database.
 *
 * A notification arrives at least once: the results of a round are recorded after it, so a process that dies in between
 * sends the round's notifications again, with the same ids. The notifications of a lane are sent one at a time, in
 * order. A failing one holds its lane, and no other.
 */
import { Clock, Duration, Effect, FiberMap, Layer, Random, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { type Attempt, isDelivered, WebhookClient } from "../delivery/webhook/WebhookClient.ts"
import { signatureHeaders } from "../delivery/webhook/Signature.ts"
import { failingMillisMax, nextDelayMillis } from "../domain/webhook/Attempts.ts"
import { laneOf, notificationsOf } from "../domain/webhook/Payload.ts"
import type { Millis } from "../domain/values/Time.ts"
import { Settings } from "../settings/Settings.ts"
import { Leases } from "../store/coordination/Leases.ts"
import { type Result, type Round, WebhookDeliveries } from "../store/webhook/WebhookDeliveries.ts"
import { type Endpoint, type Held, type Source, WebhookOutbox } from "../store/webhook/WebhookOutbox.ts"

/** Pause between polls when there is nothing to do. */
const pollMillis = 1_000

/** Duration of a lease. A round is shorter, because its attempts are bounded. */
const leaseSeconds = 60

/** Webhooks that are served at the same time. */
const endpointsAtOnce = 50

/** Requests to one webhook at the same time. */
export const requestsAtOnce = 10

/** Answers of an endpoint that has more requests than it can take. */
const overloaded = new Set([429, 502, 504])

/** Events of one webhook that are read in one round, and those of one mechanism. */
const eventsAtOnce = 1_000

/** Held notifications of one webhook. Above this number its cursors wait. */
export const heldMax = 100_000

/** The longest time in which a round starts attempts. Later notifications of a lane wait for the next round. */
const roundMillisMax = 20_000

/** How long recording is retried while the database is away. */
const recordTries = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(30)])

/** How often old deliveries are removed from the log. */
const removalInterval = Duration.minutes(10)

/** Creates the worker: the webhooks that have work, and one round for a webhook. */
export const make = Effect.gen(function* () {
  const outbox = yield* WebhookOutbox
  const deliveries = yield* WebhookDeliveries
  const client = yield* WebhookClient
  const leases = yield* Leases
  const { webhooksPerSecond } = yield* Settings
  const owner = randomUUID()
  /** Requests at the same time to webhooks that asked for fewer. */
  const slowed = new Map<string, number>()
  let nextAt = 0

  /** Waits until the process may send the next notification. */
  const pace = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const at = Math.max(now, nextAt)
    nextAt = at + 1_000 / webhooksPerSecond
    return at > now ? Effect.sleep(at - now) : Effect.void
  })

  const send = Effect.fnUntraced(function* ({ url, secrets }: Endpoint, { id, body }: Held) {
    yield* pace
    const timestampSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const headers = { "content-type": "application/json", "user-agent": "Usher-Webhooks/1.0" }
    return yield* client.post(url, { ...headers, ...signatureHeaders({ id, timestampSeconds, body }, secrets) }, body)
  })

  /** Sends the notifications of a lane in order, up to the first failure. */
  const serveLane = Effect.fnUntraced(function* (endpoint: Endpoint, lane: ReadonlyArray<Held>, until: Millis) {
    const results: Array<Result> = []
    for (const [index, held] of lane.entries()) {
      const startsAt = yield* Clock.currentTimeMillis
      if (startsAt > until) {
        results.push(...waiting(lane.slice(index), startsAt))
        break
      }
      const attempt = yield* send(endpoint, held)
      const result = resultOf(endpoint, held, attempt, yield* Random.next)
      results.push(result)
      if (result.status !== "WAITING") continue
      results.push(...waiting(lane.slice(index + 1), null))
      break
    }
    return results
  })

  /** Halves the requests at the same time if the endpoint was overloaded, and adds one after a round without. */
  const adapt = ({ id }: Endpoint, results: ReadonlyArray<Result>) => {
    const present = slowed.get(id) ?? requestsAtOnce
    const isOverloaded = results.some(({ attempt }) => overloaded.has(attempt?.statusCode ?? 0))
    const next = isOverloaded ? Math.max(1, Math.floor(present / 2)) : present + 1
    if (next < requestsAtOnce) slowed.set(id, next)
    else slowed.delete(id)
  }

  /** Reads the new events of a webhook. Returns their lanes, and how far they go. */
  const readNew = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const lanes: Array<Held> = []
    const cursors: Array<Round["cursors"][number]> = []
    if ((yield* outbox.heldCount(endpoint, heldMax)) === heldMax) return { lanes, cursors, isMore: false }
    let isMore = false
    for (const source of yield* outbox.sources(endpoint)) {
      const room = eventsAtOnce - lanes.length
      if (room <= 0) return { lanes, cursors, isMore: true }
      const upTo = Math.min(source.lastSequence, source.readUpTo + room)
      isMore ||= upTo < source.lastSequence
      lanes.push(...(yield* read(endpoint, source, upTo)))
      cursors.push({ mechanismId: source.identity.id, from: source.readUpTo, to: upTo })
    }
    return { lanes, cursors, isMore }
  })

  const read = Effect.fnUntraced(function* (endpoint: Endpoint, source: Source, upTo: number) {
    const stored = yield* outbox.events(endpoint, source, upTo)
    return stored.flatMap((event) =>
      notificationsOf(source.identity, event, endpoint.events).map((notification): Held => {
        const lane = laneOf(endpoint.ordering, source.identity.id, notification)
        return { ...notification, mechanismId: source.identity.id, lane, attempts: 0 }
      })
    )
  })

  /** Serves one webhook. Returns true if there is more to do at once. */
  const serve = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const now = yield* Clock.currentTimeMillis
    const due = yield* outbox.due(endpoint, now)
    const { lanes: read, cursors, isMore } = yield* readNew(endpoint)
    const lanes = Map.groupBy(read, ({ lane }) => lane)
    const blocked = yield* outbox.heldLanes(endpoint, [...lanes.keys()])
    const free = [...lanes].filter(([lane]) => !blocked.has(lane)).map(([, lane]) => lane)
    const behind = [...lanes].filter(([lane]) => blocked.has(lane)).flatMap(([, lane]) => waiting(lane, null))
    const served = yield* Effect.forEach([...due, ...free], (lane) => serveLane(endpoint, lane, now + roundMillisMax), {
      concurrency: slowed.get(endpoint.id) ?? requestsAtOnce
    })
    adapt(endpoint, served.flat())
    const results = [...served.flat(), ...behind]
    const changed = endpointAfter(endpoint, results)
    const recordedAt = yield* Clock.currentTimeMillis
    const round = { webhookId: endpoint.id, results, cursors, ...(changed && { endpoint: changed }) }
    yield* Effect.retry(deliveries.record(round, recordedAt), recordTries)
    if (changed?.disabledReason) {
      yield* Effect.logWarning("A webhook was disabled").pipe(
        Effect.annotateLogs({ webhook: endpoint.id, reason: changed.disabledReason })
      )
    }
    return isMore || due.length > 0
  })

  /** Serves the webhook if no other process does. Returns true if there is more to do at once. */
  const serveOwned = (endpoint: Endpoint) =>
    Effect.flatMap(leases.hold(`webhook ${endpoint.id}`, owner, leaseSeconds), (isHeld) =>
      isHeld ? serve(endpoint) : Effect.succeed(false)
    ).pipe(orLater)

  const endpoints = Effect.flatMap(Clock.currentTimeMillis, outbox.endpoints)

  return { endpoints, serve: serveOwned }
})

/** Starts the fibers that deliver and that remove old deliveries. A slow webhook delays no other. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { endpoints, serve } = yield* make
    const deliveries = yield* WebhookDeliveries
    const serving = yield* FiberMap.make<string, boolean>()

    const start = (endpoint: Endpoint) =>
      FiberMap.run(serving, endpoint.id, Effect.repeat(serve(endpoint), { while: (isMore) => isMore }), {
        onlyIfMissing: true
      })
    const poll = Effect.flatMap(endpoints, (found) =>
      Effect.forEach(found.slice(0, endpointsAtOnce), start, { discard: true })
    ).pipe(Effect.as(false), orLater, Effect.andThen(Effect.sleep(pollMillis)))
    const remove = Effect.flatMap(Clock.currentTimeMillis, deliveries.removeOld).pipe(
      Effect.map((removed) => removed > 0),
      orLater,
      Effect.repeat({ while: (isMore) => isMore }),
      Effect.andThen(Effect.sleep(removalInterval))
    )
    yield* Effect.forkScoped(Effect.forever(poll))
    yield* Effect.forkScoped(Effect.forever(remove))
  })
).pipe(Layer.provide(Layer.mergeAll(WebhookOutbox.layer, WebhookDeliveries.layer, WebhookClient.layer, Leases.layer)))

/** The results of notifications without an attempt. The first of a lane is due at `retryAt`; null: it waits behind another. */
const waiting = (lane: ReadonlyArray<Held>, retryAt: Millis | null): ReadonlyArray<Result> =>
  lane.map((held, index) => ({ held, status: "WAITING", retryAt: index === 0 ? retryAt : null }))

/** The result of an attempt. */
function resultOf({ schedule }: Endpoint, held: Held, attempt: Attempt, dice: number): Result {
  const { retryAfterMillis, ...logged } = attempt
  const attempts = held.attempts + 1
  const tried = { held: { ...held, attempts }, attempt: logged, retryAt: null }
  if (isDelivered(attempt)) return { ...tried, status: "DELIVERED" }
  const delayMillis = nextDelayMillis(schedule, attempts, dice, retryAfterMillis)
  if (delayMillis === undefined) return { ...tried, status: "FAILED" }
  return { ...tried, status: "WAITING", retryAt: attempt.at + attempt.durationMillis + delayMillis }
}

/** The state of the endpoint after a round; undefined if it did not change. */
function endpointAfter({ failingSince }: Endpoint, results: ReadonlyArray<Result>): Round["endpoint"] {
  const attempts = results.flatMap(({ attempt, status }) => (attempt === undefined ? [] : [{ ...attempt, status }]))
  if (attempts.length === 0) return undefined
  if (attempts.some(({ statusCode }) => statusCode === 410)) {
    return { failingSince: failingSince ?? attempts[0]!.at, disabledReason: "GONE" }
  }
  if (attempts.some(({ status }) => status === "DELIVERED")) {
    return failingSince === undefined ? undefined : { failingSince: null, disabledReason: null }
  }
  if (failingSince === undefined) return { failingSince: attempts[0]!.at, disabledReason: null }
  const isFailing = attempts.at(-1)!.at - failingSince >= failingMillisMax
  return isFailing ? { failingSince, disabledReason: "FAILING" } : undefined
}

/** Returns false if the database is unavailable, or after a defect, which it logs. */
const orLater = <E>(work: Effect.Effect<boolean, E>) =>
  work.pipe(
    Effect.orElseSucceed(() => false),
    Effect.catchDefect((defect) => Effect.as(Effect.logError("Webhooks could not be delivered for now", defect), false))
  )
