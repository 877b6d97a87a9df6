/**
 * Delivers webhooks. Each round takes what a webhook still has to deliver, sends it, and records the results. A lease
 * for each webhook selects the process that does the work, of all that share the database.
 *
 * A notification arrives at least once: the results of a round are recorded after it, so a process that dies in between
 * sends the round's notifications again, with the same ids. So does the next holder of a lease that was lost. The
 * notifications of a lane are sent one at a time, in order. A failing one holds its lane, and no other.
 */
import { Clock, Duration, Effect, FiberMap, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { WebhookClient } from "../delivery/webhook/WebhookClient.ts"
import { Leases } from "../store/coordination/Leases.ts"
import { OwnCommits } from "../store/journal/OwnCommits.ts"
import { AssignedProducts } from "../store/experience/AssignedProducts.ts"
import type { Endpoint } from "../store/webhook/OutboxRows.ts"
import type { Round } from "../store/webhook/Round.ts"
import { WebhookDeliveries } from "../store/webhook/WebhookDeliveries.ts"
import { WebhookOutbox } from "../store/webhook/WebhookOutbox.ts"
import * as Owners from "./webhook/Owners.ts"
import * as Reading from "./webhook/Reading.ts"
import { endpointAfter, waiting } from "./webhook/Results.ts"
import * as Sending from "./webhook/Sending.ts"
import { Throttle } from "./webhook/Throttle.ts"
import { annotated } from "../measures/StateChange.ts"

/** Pause between polls when there is nothing to do: the longest, and the shortest, after commits of this process. */
const pollMillis = 1_000
const earliestPollMillis = 100

/** Duration of a lease, and how often it is extended during a round. A lease of a process that died ends after it. */
const leaseSeconds = 10
const extendIntervalMillis = 3_000

/** How long a process waits for the release of a lease. */
const releaseMillis = 2_000

/** Webhooks that are served at the same time. */
const endpointsAtOnce = 50

/** How long recording is retried while the database is away. */
const recordTries = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(30)])

/** How often old deliveries are removed from the log. */
const removalInterval = Duration.minutes(10)

/** Creates the worker: the webhooks that have work, and one round for a webhook. */
export const make = Effect.gen(function* () {
  const outbox = yield* WebhookOutbox
  const deliveries = yield* WebhookDeliveries
  const leases = yield* Leases
  const readNew = yield* Reading.make
  const send = yield* Sending.make
  const tellOwner = yield* Owners.make
  const owner = randomUUID()

  /** Records a round, tells the organization what failed, and logs that the round disabled its webhook. */
  const record = Effect.fnUntraced(function* (round: Round) {
    yield* Effect.retry(deliveries.record(round, yield* Clock.currentTimeMillis), recordTries)
    yield* tellOwner(round)
    const reason = round.endpoint?.disabledReason
    if (!reason) return
    const disabled = annotated("webhook.disabled", { webhook: round.webhookId, reason })
    yield* disabled(Effect.logWarning("A webhook was disabled"))
  })

  /** Serves one webhook. Returns true if there is more to do at once. */
  const serve = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const due = yield* outbox.due(endpoint, yield* Clock.currentTimeMillis)
    const { found, cursors, isMore } = yield* readNew(endpoint)
    const lanes = Map.groupBy(found, ({ lane }) => lane)
    const blocked = yield* outbox.heldLanes(endpoint, [...lanes.keys()])
    const free = [...lanes].filter(([lane]) => !blocked.has(lane)).map(([, lane]) => lane)
    const behind = [...lanes].filter(([lane]) => blocked.has(lane)).flatMap(([, lane]) => waiting(lane, null))
    const results = [...(yield* send(endpoint, [...due, ...free])), ...behind]
    const changed = endpointAfter(endpoint, results)
    yield* record({ webhookId: endpoint.id, results, cursors, ...(changed && { endpoint: changed }) })
    return isMore || due.length > 0
  })

  /** Extends the lease at intervals. Returns when another process holds it. */
  const lost = (lease: string) =>
    Effect.sleep(extendIntervalMillis).pipe(
      Effect.andThen(Effect.orElseSucceed(leases.hold(lease, owner, leaseSeconds), () => true)),
      Effect.repeat({ while: (isHeld) => isHeld }),
      Effect.as(false)
    )

  /** Serves the webhook if no other process does. Returns true if there is more to do at once. */
  const serveOwned = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const lease = `webhook ${endpoint.id}`
    if (!(yield* leases.hold(lease, owner, leaseSeconds))) return false
    const release = leases.release(lease, owner).pipe(Effect.timeout(releaseMillis), Effect.ignore)
    return yield* Effect.raceFirst(serve(endpoint), lost(lease)).pipe(Effect.ensuring(release))
  }, orLater)

  return {
    endpoints: Effect.flatMap(Clock.currentTimeMillis, (now) => outbox.endpoints(now)),
    /** Returns the webhook as it is now; none if it has no work, or is disabled. */
    endpoint: (id: string) => Effect.flatMap(Clock.currentTimeMillis, (now) => outbox.endpoints(now, id)),
    serve: serveOwned
  }
})

/** Starts the fibers that deliver and that remove old deliveries. A slow webhook delays no other. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { endpoints, endpoint, serve } = yield* make
    const deliveries = yield* WebhookDeliveries
    const ownCommits = yield* OwnCommits
    const serving = yield* FiberMap.make<string, boolean>()

    /** Serves a webhook until it has nothing to do at once. Each round reads its address, secrets and state again. */
    const rounds = (id: string) =>
      endpoint(id).pipe(
        Effect.flatMap(([found]) => (found === undefined ? Effect.succeed(false) : serve(found))),
        orLater,
        Effect.repeat({ while: (isMore) => isMore })
      )
    const start = Effect.fnUntraced(function* ({ id }: Endpoint) {
      if ((yield* FiberMap.size(serving)) >= endpointsAtOnce) return
      yield* FiberMap.run(serving, id, rounds(id), { onlyIfMissing: true })
    })
    const poll = Effect.sync(() => ownCommits.forget()).pipe(
      Effect.andThen(endpoints),
      Effect.flatMap((found) => Effect.forEach(found, start, { discard: true })),
      Effect.as(false),
      orLater,
      Effect.andThen(ownCommits.wait(earliestPollMillis, pollMillis))
    )
    const remove = Effect.flatMap(Clock.currentTimeMillis, deliveries.removeOld).pipe(
      Effect.map((removed) => removed > 0),
      orLater,
      Effect.repeat({ while: (isMore) => isMore }),
      Effect.andThen(Effect.sleep(removalInterval))
    )
    yield* Effect.forkScoped(Effect.forever(poll))
    yield* Effect.forkScoped(Effect.forever(remove))
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

/** Returns false if the database is unavailable, or after a defect, which it logs. */
function orLater<E>(work: Effect.Effect<boolean, E>): Effect.Effect<boolean> {
  return work.pipe(
    Effect.orElseSucceed(() => false),
    Effect.catchDefect((defect) => Effect.as(Effect.logError("Webhooks could not be delivered for now", defect), false))
  )
}
