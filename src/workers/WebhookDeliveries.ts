/**
 * Delivers webhooks, one of the two outboxes (`Outbox.ts`). Each round takes what a webhook still has to deliver, sends
 * it, and records the results. A lease for each webhook selects the process that does the work.
 *
 * A notification arrives at least once: the results of a round are recorded after it, so a process that dies in between
 * sends the round's notifications again, with the same ids. So does the next holder of a lease that was lost. The
 * notifications of a lane are sent one at a time, in order. A failing one holds back its lane, and no other.
 */
import { Duration, Effect, FiberMap, Layer } from "effect"
import { Delivery } from "../delivery/Delivery.ts"
import { webhookFailure } from "../delivery/Message.ts"
import { WebhookClient } from "../delivery/webhook/WebhookClient.ts"
import { annotated } from "../measures/StateChange.ts"
import { Leases } from "../store/coordination/Leases.ts"
import { AssignedProducts } from "../store/experience/AssignedProducts.ts"
import { OwnCommits } from "../store/journal/OwnCommits.ts"
import { type Round, WebhookDeliveries } from "../store/webhook/WebhookDeliveries.ts"
import { type Endpoint, WebhookOutbox } from "../store/webhook/WebhookOutbox.ts"
import { TestClocks } from "../store/testClock/TestClocks.ts"
import { retryRecording } from "./Outbox.ts"
import * as JournalReader from "./webhook/JournalReader.ts"
import { Throttle } from "./webhook/Pace.ts"
import * as Sender from "./webhook/Sender.ts"
import { makeWithLease, orElseLogged, start } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

/** Pause between polls when there is nothing to do: the longest, and the shortest, after commits of this process. */
const pollMillis = 1_000
const earliestPollMillis = 100

/** Webhooks that are served at the same time. */
const endpointsAtOnce = 50

/** How often old deliveries are removed from the log. */
const removalMillis = Duration.toMillis("10 minutes")

const failureMessage = "Webhooks could not be delivered for now"

/** Creates the worker: the webhooks that have work, and one round for a webhook. */
export const make = Effect.gen(function* () {
  const outbox = yield* WebhookOutbox
  const deliveries = yield* WebhookDeliveries
  const readNew = yield* JournalReader.make
  const send = yield* Sender.make
  const mailOwner = yield* makeMailOwner
  const withLease = yield* makeWithLease
  const clocks = yield* TestClocks

  /** Records a round, tells the organization what failed, and logs that the round disabled its webhook. */
  const record = Effect.fnUntraced(function* (round: Round) {
    yield* retryRecording(deliveries.record(round, yield* Time.serverNow))
    yield* mailOwner(round)
    const reason = round.endpoint?.disabledReason
    if (!reason) return
    const disabled = annotated("webhook.disabled", { webhook: round.webhookId, reason })
    yield* disabled(Effect.logWarning("A webhook was disabled"))
  })

  /** Passes over what happens under a test clock that does not name the webhook: it is never delivered. */
  const pass = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const { cursors, isMore } = yield* readNew(endpoint)
    yield* record({ webhookId: endpoint.id, results: [], cursors })
    return isMore
  })

  /** Serves one webhook. Returns true if there is more to do at once. */
  const serve = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const clock = yield* clocks.find(endpoint.tenant)
    if (clock !== undefined && !clock.webhookIds.includes(endpoint.id)) return yield* pass(endpoint)
    const due = yield* outbox.due(endpoint, yield* Time.serverNow)
    const { deliveries, cursors, isMore } = yield* readNew(endpoint)
    const lanes = Map.groupBy(deliveries, ({ lane }) => lane)
    const blocked = yield* outbox.waitingLanes(endpoint, [...lanes.keys()])
    const free = [...lanes].filter(([lane]) => !blocked.has(lane)).map(([, lane]) => lane)
    const behind = [...lanes].filter(([lane]) => blocked.has(lane)).flatMap(([, lane]) => Sender.waiting(lane, null))
    const results = [...(yield* send(endpoint, [...due, ...free])), ...behind]
    const changed = Sender.endpointAfter(endpoint, results)
    yield* record({ webhookId: endpoint.id, results, cursors, ...(changed && { endpoint: changed }) })
    return isMore || due.length > 0
  })

  return {
    endpoints: Effect.flatMap(Time.serverNow, (now) => outbox.endpoints(now)),
    /** Returns the webhook as it is now; none if it has no work, or is disabled. */
    endpoint: (id: string) => Effect.flatMap(Time.serverNow, (now) => outbox.endpoints(now, id)),
    /** Serves the webhook if no other process does. Returns true if there is more to do at once. */
    serve: (endpoint: Endpoint) =>
      withLease(`webhook ${endpoint.id}`, "release", serve(endpoint)).pipe(orElseLogged(failureMessage, false))
  }
})

/** Starts the fibers that deliver and that remove old deliveries. A slow webhook delays no other. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { endpoints, endpoint, serve } = yield* make
    const deliveries = yield* WebhookDeliveries
    const serving = yield* FiberMap.make<string, boolean>()

    /** Serves a webhook until it has nothing to do at once. Each round reads its address, secrets and state again. */
    const rounds = (id: string) =>
      Effect.flatMap(endpoint(id), ([found]) => (found === undefined ? Effect.succeed(false) : serve(found))).pipe(
        orElseLogged(failureMessage, false),
        Effect.repeat({ while: (isMore) => isMore })
      )
    const serveAll = Effect.fnUntraced(function* (found: ReadonlyArray<Endpoint>) {
      for (const { id } of found) {
        if ((yield* FiberMap.size(serving)) >= endpointsAtOnce) return
        yield* FiberMap.run(serving, id, rounds(id), { onlyIfMissing: true })
      }
    })

    yield* start({
      round: Effect.flatMap(endpoints, serveAll),
      pauseMillis: pollMillis,
      spacingMillis: earliestPollMillis,
      wakeUp: yield* OwnCommits,
      failureMessage
    })
    yield* start({
      round: Effect.map(Effect.flatMap(Time.serverNow, deliveries.removeOld), (removed) => removed > 0),
      pauseMillis: removalMillis,
      failureMessage
    })
  })
).pipe(
  Layer.provide(
    Layer.mergeAll(
      WebhookOutbox.layer,
      WebhookDeliveries.layer,
      WebhookClient.layer,
      Leases.layer,
      AssignedProducts.layer,
      Throttle.layer
    )
  )
)

/**
 * Creates the function that mails the organization if deliveries of the round failed permanently, or the round disabled
 * the webhook. A mail that is lost is not sent again.
 */
const makeMailOwner = Effect.gen(function* () {
  const deliveries = yield* WebhookDeliveries
  const delivery = yield* Delivery

  return Effect.fnUntraced(function* ({ webhookId, results, endpoint }: Round) {
    const failedDeliveries = results.filter(({ status }) => status === "FAILED").length
    const disabledReason = endpoint?.disabledReason ?? undefined
    if (failedDeliveries === 0 && disabledReason === undefined) return
    if (!delivery.canSend("email")) return
    const owner = yield* deliveries.claimMail(webhookId, yield* Time.serverNow)
    if (owner === undefined) return
    const { tenant, to, host } = owner
    yield* Effect.forEach(
      to,
      (address) =>
        delivery.send(webhookFailure({ tenant, to: address, host, webhookId, failedDeliveries, disabledReason })),
      { discard: true }
    )
  })
})
