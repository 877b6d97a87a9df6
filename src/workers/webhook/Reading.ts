/** Reads the new events of the mechanisms that a webhook reports, as notifications in lanes. */
import { Clock, Effect } from "effect"
import { needsProduct } from "../../domain/webhook/Catalogue.ts"
import { laneOf, notificationsOf } from "../../domain/webhook/Payload.ts"
import { AssignedProducts } from "../../store/experience/AssignedProducts.ts"
import type { Endpoint, Held, Source, StoredEvent } from "../../store/webhook/OutboxRows.ts"
import type { Round } from "../../store/webhook/Round.ts"
import { WebhookOutbox } from "../../store/webhook/WebhookOutbox.ts"

/** Events of one webhook that are read in one round. */
const eventsAtOnce = 1_000

/**
 * Events that a round reads at the start of the process, and those that each second adds up to `eventsAtOnce`. Only whole
 * rounds are recorded, so a process that dies soon after each start needs small rounds to get on.
 */
const eventsAtStart = 50
const eventsPerSecond = 100

/** Held notifications of one webhook. Above this number its cursors wait. */
const heldMax = 100_000

/** Creates the function that reads the new events. It returns the notifications, and how far the cursors may move. */
export const make = Effect.gen(function* () {
  const outbox = yield* WebhookOutbox
  const assigned = yield* AssignedProducts
  const startedAt = yield* Clock.currentTimeMillis

  const roundSize = Effect.map(Clock.currentTimeMillis, (now) =>
    Math.min(eventsAtOnce, eventsAtStart + Math.floor(((now - startedAt) / 1_000) * eventsPerSecond))
  )

  /** Returns the product of the consumer, if a notification names it and the sequence assigns products. */
  const productOf = ({ events }: Endpoint, { identity, assignsProducts }: Source, { event }: StoredEvent) => {
    const { _tag, consumerId } = event
    return assignsProducts && consumerId !== undefined && needsProduct(identity.kind, _tag, events)
      ? Effect.map(assigned.of(identity, consumerId), (product) => product?.productId)
      : Effect.succeed(undefined)
  }

  const notifications = Effect.fnUntraced(function* (endpoint: Endpoint, source: Source, stored: StoredEvent) {
    const productId = yield* productOf(endpoint, source, stored)
    return notificationsOf(source.identity, stored, endpoint.events, productId).map((notification): Held => {
      const lane = laneOf(endpoint.ordering, source.identity.id, notification)
      return { ...notification, mechanismId: source.identity.id, lane, attempts: 0 }
    })
  })

  return Effect.fnUntraced(function* (endpoint: Endpoint) {
    const found: Array<Held> = []
    const cursors: Array<Round["cursors"][number]> = []
    if ((yield* outbox.heldCount(endpoint, heldMax)) === heldMax) return { found, cursors, isMore: false }
    const size = yield* roundSize
    let isMore = false
    for (const source of yield* outbox.sources(endpoint)) {
      const room = size - found.length
      if (room <= 0) return { found, cursors, isMore: true }
      const upTo = Math.min(source.lastSequence, source.readUpTo + room)
      isMore ||= upTo < source.lastSequence
      for (const stored of yield* outbox.events(endpoint, source, upTo)) {
        found.push(...(yield* notifications(endpoint, source, stored)))
      }
      cursors.push({ mechanismId: source.identity.id, from: source.readUpTo, to: upTo })
    }
    return { found, cursors, isMore }
  })
})
