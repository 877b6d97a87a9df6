/** Webhooks of a real journal and a real receiver on loopback, whose answers the test sets. */
import { Effect, Exit, Layer, References, Scope } from "effect"
import { IpNetwork } from "effect/net"
import { randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { WebhookClient } from "../../../src/delivery/webhook/WebhookClient.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import type * as Queue from "../../../src/domain/queue/Queue.ts"
import type { Settings as WebhookSettings } from "../../../src/domain/webhook/Webhook.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { Leases } from "../../../src/store/coordination/Leases.ts"
import { AssignedProducts } from "../../../src/store/experience/AssignedProducts.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { WebhookDeliveries } from "../../../src/store/webhook/WebhookDeliveries.ts"
import { WebhookOutbox } from "../../../src/store/webhook/WebhookOutbox.ts"
import { Webhooks } from "../../../src/store/webhook/Webhooks.ts"
import * as Worker from "../../../src/workers/WebhookDeliveries.ts"
import { movableClock } from "../../support/movableClock.ts"
import { aQueue, aTenant, layer as records } from "../../store/support/recordsFixture.ts"

/** A request that the receiver has seen. */
export interface Received {
  readonly id: string
  readonly type: string
  readonly consumerId: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Starts a receiver. `answer` returns the status of each request, or `hang`. */
export const aReceiver = Effect.gen(function* () {
  const world = {
    received: [] as Array<Received>,
    answer: (_: Received): number | "hang" => 204,
    retryAfter: undefined as string | undefined,
    inFlight: 0,
    inFlightMost: 0
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        world.inFlight++
        world.inFlightMost = Math.max(world.inFlightMost, world.inFlight)
        let body = ""
        request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")))
        request.on("end", () => {
          const { id, type, data } = JSON.parse(body)
          const headers = request.headers as Record<string, string>
          const seen = { id, type, consumerId: data.consumer_id, headers, body }
          world.received.push(seen)
          respond(response, world.answer(seen), world.retryAfter)
        })
        response.on("close", () => world.inFlight--)
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return Object.assign(world, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })
})

const respond = (response: ServerResponse, status: number | "hang", retryAfter: string | undefined) => {
  if (status === "hang") return
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter }
  // Requests that are sent at the same time overlap.
  setTimeout(() => response.writeHead(status, headers).end("seen"), 5)
}

const stores = Layer.mergeAll(
  WebhookOutbox.layer,
  WebhookDeliveries.layer,
  Leases.layer,
  Layer.provide(AssignedProducts.layer, Invalidations.layer)
)
const settings = Settings.layerTest({
  webhookNetworks: [IpNetwork.fromStringUnsafe("127.0.0.0/8")],
  webhooksPerSecond: 10_000
})

/** Starts a worker. Returns an effect that runs rounds for these webhooks until nothing is left to do at once. */
export const aProcess = Effect.gen(function* () {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const worker = yield* Worker.make.pipe(
    Effect.provide(Layer.mergeAll(stores, WebhookClient.layer)),
    Effect.provide(settings),
    Scope.provide(scope)
  )
  const round = Effect.gen(function* () {
    const endpoints = yield* worker.endpoints
    const more = yield* Effect.forEach(endpoints, worker.serve)
    return more.includes(true)
  })
  return { round, all: Effect.repeat(round, { while: (isMore) => isMore }) }
})

/** Creates a webhook for entries and admissions. */
export const aWebhook = Effect.fnUntraced(function* (tenant: Tenant, url: string, more: Partial<WebhookSettings> = {}) {
  const webhooks = yield* Webhooks
  const events = ["distribution.joined", "distribution.admitted"] as const
  return yield* webhooks.create(tenant, "test", { url, events, ...more }, undefined)
})

/** Lets so many consumers enter the queue and be admitted. Returns their ids. */
export const entered = Effect.fnUntraced(function* (queueId: string, count: number, expectedSequence = 1) {
  const journal = yield* Journal
  const at = Date.now()
  const consumerIds = Array.from({ length: count }, () => randomUUID())
  yield* journal.append({
    mechanismId: queueId,
    kind: "queue",
    expectedSequence,
    events: consumerIds.flatMap((consumerId): ReadonlyArray<Queue.Event> => [
      { _tag: "Entered", at, consumerId },
      { _tag: "Granted", at, consumerId }
    ]),
    places: [],
    wakeAt: null
  })
  return consumerIds
})

/** A tenant with a queue, a receiver, and a process that delivers. */
export const aWorld = Effect.gen(function* () {
  const tenant = yield* aTenant()
  const receiver = yield* aReceiver
  return { tenant, receiver, queue: yield* aQueue(tenant), worker: yield* aProcess }
})

export const clock = movableClock()
export const services = Layer.mergeAll(
  records,
  Webhooks.layer.pipe(Layer.provideMerge(records)),
  WebhookDeliveries.layer.pipe(Layer.provide(records))
).pipe(Layer.provideMerge(clock.layer), Layer.merge(Layer.succeed(References.MinimumLogLevel, "None")))
