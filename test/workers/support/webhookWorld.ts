/** Webhooks of a real journal and a real receiver on loopback, whose answers the test sets. */
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { IpNetwork } from "effect/net"
import { randomUUID } from "node:crypto"
import { WebhookClient } from "../../../src/delivery/webhook/WebhookClient.ts"
import { Delivery } from "../../../src/delivery/Delivery.ts"
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
import { Throttle } from "../../../src/workers/webhook/Pace.ts"
import { movableClock } from "../../support/movableClock.ts"
import { aQueue, aTenant, layer as records } from "../../store/support/recordsFixture.ts"
import { aReceiver } from "./webhookReceiver.ts"

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
export const aProcess = Effect.suspend(() => aProcessWith(Throttle.none))

/** Starts a worker that something slows down. */
export const aProcessWith = Effect.fnUntraced(function* (throttle: Throttle["Service"]) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const delivery = Context.get(yield* Layer.buildWithScope(Layer.provide(Delivery.layer, settings), scope), Delivery)
  const worker = yield* Worker.make.pipe(
    Effect.provide(Layer.mergeAll(stores, WebhookClient.layer)),
    Effect.provideService(Delivery, delivery),
    Effect.provideService(Throttle, throttle),
    Effect.provide(settings),
    Scope.provide(scope)
  )
  const round = Effect.gen(function* () {
    const endpoints = yield* worker.endpoints
    const more = yield* Effect.forEach(endpoints, worker.serve)
    return more.includes(true)
  })
  /** Returns the mails to the tenant, newest first. */
  const mails = (tenant: Tenant) => delivery.outbox!(tenant, undefined)
  return { round, all: Effect.repeat(round, { while: (isMore) => isMore }), mails }
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
