/** Sends the deliveries of a webhook, each lane in order and several lanes at the same time, and says what follows. */
import { Effect, Random } from "effect"
import { signatureHeaders } from "../../delivery/webhook/Signature.ts"
import { type Attempt, isDelivered, WebhookClient } from "../../delivery/webhook/WebhookClient.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { failingMillisMax, nextDelayMillis } from "../../domain/webhook/Attempts.ts"
import { Measures } from "../../measures/Measures.ts"
import type { PendingDelivery } from "../../store/webhook/PendingDeliveries.ts"
import type { DeliveryResult, Round } from "../../store/webhook/WebhookDeliveries.ts"
import type { Endpoint } from "../../store/webhook/WebhookOutbox.ts"
import * as Pace from "./Pace.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Answers of an endpoint that has more requests than it can take. */
const overloaded = new Set([429, 502, 504])

/** The longest time in which a round starts attempts. Later deliveries of a lane wait for the next round. */
const roundMillisMax = 20_000

/** The outcomes of attempts as the measures call them. */
const outcomeNames = { DELIVERED: "delivered", WAITING: "retried", FAILED: "failed" } as const

/** Creates the function that sends the lanes of a webhook, each up to its first failure. */
export const make = Effect.gen(function* () {
  const client = yield* WebhookClient
  const { webhookAttempts } = (yield* Measures).delivery
  const pace = yield* Pace.make
  const { limitOf, adapt } = makeConcurrency()

  const send = Effect.fnUntraced(function* (endpoint: Endpoint, { id, body }: PendingDelivery) {
    const { url, secrets } = endpoint
    yield* pace(endpoint)
    const timestampSeconds = Math.floor((yield* Time.serverNow) / 1_000)
    const headers = { "content-type": "application/json", "user-agent": "Usher-Webhooks/1.0" }
    return yield* client.post(url, { ...headers, ...signatureHeaders({ id, timestampSeconds, body }, secrets) }, body)
  })

  const sendLane = Effect.fnUntraced(function* (
    endpoint: Endpoint,
    lane: ReadonlyArray<PendingDelivery>,
    until: Millis
  ) {
    const results: Array<DeliveryResult> = []
    for (const [index, delivery] of lane.entries()) {
      const startsAt = yield* Time.serverNow
      if (startsAt > until) return [...results, ...waiting(lane.slice(index), startsAt)]
      const attempt = yield* send(endpoint, delivery)
      const result = resultOf(endpoint, delivery, attempt, yield* Random.next)
      results.push(result)
      webhookAttempts.add(outcomeNames[result.status])
      if (result.status === "WAITING") return [...results, ...waiting(lane.slice(index + 1), null)]
    }
    return results
  })

  return Effect.fnUntraced(function* (endpoint: Endpoint, lanes: ReadonlyArray<ReadonlyArray<PendingDelivery>>) {
    const until = (yield* Time.serverNow) + roundMillisMax
    const results = yield* Effect.forEach(lanes, (lane) => sendLane(endpoint, lane, until), {
      concurrency: limitOf(endpoint)
    })
    adapt(endpoint, results.flat())
    return results.flat()
  })
})

/**
 * Creates the limits of requests at the same time. A round with an overloaded answer halves the limit of its webhook, a
 * round without one adds 1. Only webhooks below the maximum are kept.
 */
const makeConcurrency = () => {
  const slowed = new Map<string, number>()
  const limitOf = ({ id, requestsAtOnce }: Endpoint) => Math.min(slowed.get(id) ?? requestsAtOnce, requestsAtOnce)
  const adapt = (endpoint: Endpoint, results: ReadonlyArray<DeliveryResult>) => {
    const isOverloaded = results.some(({ attempt }) => overloaded.has(attempt?.statusCode ?? 0))
    const present = limitOf(endpoint)
    const next = isOverloaded ? Math.max(1, Math.floor(present / 2)) : present + 1
    if (next < endpoint.requestsAtOnce) slowed.set(endpoint.id, next)
    else slowed.delete(endpoint.id)
  }
  return { limitOf, adapt }
}

/** Results without an attempt. The first of a lane is due at `retryAt`; null: it waits behind another. */
export const waiting = (lane: ReadonlyArray<PendingDelivery>, retryAt: Millis | null): ReadonlyArray<DeliveryResult> =>
  lane.map((delivery, index) => ({ delivery, status: "WAITING", retryAt: index === 0 ? retryAt : null }))

/** The result of an attempt. `jitter` is from 0 to 1. */
const resultOf = (
  { schedule }: Endpoint,
  delivery: PendingDelivery,
  attempt: Attempt,
  jitter: number
): DeliveryResult => {
  const { retryAfterMillis, ...logged } = attempt
  const attempts = delivery.attempts + 1
  const tried = { delivery: { ...delivery, attempts }, attempt: logged, retryAt: null }
  if (isDelivered(attempt)) return { ...tried, status: "DELIVERED" }
  const delayMillis = nextDelayMillis(schedule, attempts, jitter, retryAfterMillis)
  if (delayMillis === undefined) return { ...tried, status: "FAILED" }
  return { ...tried, status: "WAITING", retryAt: attempt.at + attempt.durationMillis + delayMillis }
}

/** The state of the endpoint after a round; undefined if it did not change. */
export const endpointAfter = (
  { failingSince }: Endpoint,
  results: ReadonlyArray<DeliveryResult>
): Round["endpoint"] => {
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
