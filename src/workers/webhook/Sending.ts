/** Sends the notifications of a webhook: each lane in order, several lanes at the same time. */
import { Clock, Effect, Random } from "effect"
import { signatureHeaders } from "../../delivery/webhook/Signature.ts"
import { WebhookClient } from "../../delivery/webhook/WebhookClient.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Measures } from "../../measures/Measures.ts"
import type { Endpoint, Held } from "../../store/webhook/OutboxRows.ts"
import type { Result } from "../../store/webhook/Round.ts"
import * as Pace from "./Pace.ts"
import { resultOf, waiting } from "./Results.ts"

/** Answers of an endpoint that has more requests than it can take. */
const overloaded = new Set([429, 502, 504])

/** The longest time in which a round starts attempts. Later notifications of a lane wait for the next round. */
const roundMillisMax = 20_000

/** The outcomes of attempts as the measures call them. */
const outcomeNames = { DELIVERED: "delivered", WAITING: "retried", FAILED: "failed" } as const

/** Creates the function that sends the lanes of a webhook, each up to its first failure. */
export const make = Effect.gen(function* () {
  const client = yield* WebhookClient
  const { webhookAttempts } = (yield* Measures).delivery
  const pace = yield* Pace.ofProcess
  const paceOf = Pace.ofWebhooks()
  const { limitOf, adapt } = makeConcurrency()

  const send = Effect.fnUntraced(function* (endpoint: Endpoint, { id, body }: Held) {
    const { url, secrets } = endpoint
    yield* paceOf(endpoint)
    yield* pace
    const timestampSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const headers = { "content-type": "application/json", "user-agent": "Usher-Webhooks/1.0" }
    return yield* client.post(url, { ...headers, ...signatureHeaders({ id, timestampSeconds, body }, secrets) }, body)
  })

  const sendLane = Effect.fnUntraced(function* (endpoint: Endpoint, lane: ReadonlyArray<Held>, until: Millis) {
    const results: Array<Result> = []
    for (const [index, held] of lane.entries()) {
      const startsAt = yield* Clock.currentTimeMillis
      if (startsAt > until) return [...results, ...waiting(lane.slice(index), startsAt)]
      const attempt = yield* send(endpoint, held)
      const result = resultOf(endpoint, held, attempt, yield* Random.next)
      results.push(result)
      webhookAttempts.add(outcomeNames[result.status])
      if (result.status === "WAITING") return [...results, ...waiting(lane.slice(index + 1), null)]
    }
    return results
  })

  return Effect.fnUntraced(function* (endpoint: Endpoint, lanes: ReadonlyArray<ReadonlyArray<Held>>) {
    const until = (yield* Clock.currentTimeMillis) + roundMillisMax
    const sent = yield* Effect.forEach(lanes, (lane) => sendLane(endpoint, lane, until), {
      concurrency: limitOf(endpoint)
    })
    adapt(endpoint, sent.flat())
    return sent.flat()
  })
})

/**
 * Creates the limits of requests at the same time. A round with an overloaded answer halves the limit of its webhook, a
 * round without one adds 1. Only webhooks below the maximum are kept.
 */
const makeConcurrency = () => {
  const slowed = new Map<string, number>()
  const limitOf = ({ id, requestsAtOnce }: Endpoint) => Math.min(slowed.get(id) ?? requestsAtOnce, requestsAtOnce)
  const adapt = (endpoint: Endpoint, results: ReadonlyArray<Result>) => {
    const isOverloaded = results.some(({ attempt }) => overloaded.has(attempt?.statusCode ?? 0))
    const present = limitOf(endpoint)
    const next = isOverloaded ? Math.max(1, Math.floor(present / 2)) : present + 1
    if (next < endpoint.requestsAtOnce) slowed.set(endpoint.id, next)
    else slowed.delete(endpoint.id)
  }
  return { limitOf, adapt }
}
