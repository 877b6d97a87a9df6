/** Reads the new events of mechanisms and records that a webhook reports, as deliveries in lanes. */
import { Effect } from "effect"
import { batchesOf } from "../../domain/webhook/Batches.ts"
import { laneOf, notificationsOf, recordLaneOf, recordNotificationsOf } from "../../domain/webhook/Payload.ts"
import { AssignedProducts } from "../../store/experience/AssignedProducts.ts"
import type { PendingDelivery } from "../../store/webhook/PendingDeliveries.ts"
import type { Round } from "../../store/webhook/WebhookDeliveries.ts"
import {
  type Endpoint,
  type MechanismSource,
  type Source,
  type StoredEvent,
  type TenantSource,
  WebhookOutbox
} from "../../store/webhook/WebhookOutbox.ts"
import { Throttle } from "./Pace.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Events of one webhook that are read in one round. */
const eventsAtOnce = 1_000

/**
 * Events that a round reads at the start of the process, and those that each second adds up to `eventsAtOnce`. Only whole
 * rounds are recorded, so a process that dies soon after each start needs small rounds to get on.
 */
const eventsAtStart = 50
const eventsPerSecond = 100

/** Waiting deliveries of one webhook. Above this number its cursors wait. */
const waitingMax = 100_000

/** The same where a delivery is a batch. */
const waitingBatchesMax = 1_000

/** Creates the function that reads the new events. It returns their deliveries, and how far the cursors may move. */
export const make = Effect.gen(function* () {
  const outbox = yield* WebhookOutbox
  const read = yield* makeRead
  const { share } = yield* Throttle
  const startedAt = yield* Time.serverNow

  const roundSize = Effect.gen(function* () {
    const upSeconds = ((yield* Time.serverNow) - startedAt) / 1_000
    const most = Math.min(eventsAtOnce, eventsAtStart + Math.floor(upSeconds * eventsPerSecond))
    return Math.ceil(most * (yield* share))
  })

  return Effect.fnUntraced(function* (endpoint: Endpoint) {
    const deliveries: Array<PendingDelivery> = []
    const cursors: Array<Round["cursors"][number]> = []
    const most = endpoint.delivery === "batches" ? waitingBatchesMax : waitingMax
    if ((yield* outbox.waitingCount(endpoint, most)) === most) return { deliveries, cursors, isMore: false }
    const size = yield* roundSize
    let count = 0
    let isMore = false
    for (const source of yield* outbox.sources(endpoint)) {
      const room = size - count
      if (room <= 0) return { deliveries, cursors, isMore: true }
      const upTo = Math.min(source.lastSequence, source.readUpTo + room)
      isMore ||= upTo < source.lastSequence
      const events = yield* read(endpoint, source, upTo)
      count += events.length
      deliveries.push(
        ...(endpoint.delivery === "batches" ? batchesOf(endpoint.tenant, source.subjectId, events) : events)
      )
      cursors.push({ subjectId: source.subjectId, from: source.readUpTo, to: upTo })
    }
    return { deliveries, cursors, isMore }
  })
})

/** Creates the function that reads the deliveries of one journal, after the cursor and up to an event. */
const makeRead = Effect.gen(function* () {
  const outbox = yield* WebhookOutbox
  const assigned = yield* AssignedProducts

  /** Returns the product that the consumer has selected or the system has assigned, else the only one there is. */
  const productOf = ({ identity, assignsProducts, productId: only }: MechanismSource, stored: StoredEvent) => {
    const { productId = only, event } = stored
    return assignsProducts && stored.productId === undefined && event.consumerId !== undefined
      ? Effect.map(assigned.of(identity, event.consumerId), (product) => product?.productId ?? only)
      : Effect.succeed(productId)
  }

  const deliveriesOf = Effect.fnUntraced(function* (endpoint: Endpoint, source: MechanismSource, stored: StoredEvent) {
    const productId = yield* productOf(source, stored)
    return notificationsOf(source.identity, stored, endpoint.events, productId).map((notification): PendingDelivery => {
      const lane = laneOf(endpoint.ordering, source.identity.id, notification)
      return { ...notification, subjectId: source.subjectId, lane, attempts: 0 }
    })
  })

  const ofMechanism = Effect.fnUntraced(function* (endpoint: Endpoint, source: MechanismSource, upTo: number) {
    const stored = yield* outbox.events(endpoint, source, upTo)
    return (yield* Effect.forEach(stored, (event) => deliveriesOf(endpoint, source, event))).flat()
  })

  const ofTenant = Effect.fnUntraced(function* (endpoint: Endpoint, source: TenantSource, upTo: number) {
    const changes = yield* outbox.changes(endpoint, source, upTo)
    return changes.flatMap((change) =>
      recordNotificationsOf(endpoint.tenant, change, endpoint).map((notification): PendingDelivery => {
        const lane = recordLaneOf(endpoint.ordering, change, notification)
        return { ...notification, subjectId: source.subjectId, lane, attempts: 0 }
      })
    )
  })

  return (endpoint: Endpoint, source: Source, upTo: number) =>
    source.identity === undefined ? ofTenant(endpoint, source, upTo) : ofMechanism(endpoint, source, upTo)
})
