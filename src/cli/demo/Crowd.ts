/**
 * The demo's consumers. Each acts independently, like a person with a browser: it enters, waits, buys, leaves or lets
 * its admission expire. It notes everything that the server acknowledged, and the checks rely on these notes.
 */
import { Clock, Effect, Random } from "effect"
import type { QueueState } from "../../api/consumer/QueueApi.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { instants } from "../../load/Arrivals.ts"
import type { Client, RequestError } from "../../load/Client.ts"
import { passQueue, startWhenDue, stopwatch } from "../../load/Journeys.ts"

/** The behaviour of a consumer: it buys when admitted, leaves while waiting, or lets the admission expire. */
export type Behaviour = "buys" | "leaves" | "forgets"

/** A consumer's notes, all from responses of the server. */
export interface Notes {
  readonly consumerId: string
  readonly behaviour: Behaviour
  /** From the first response to entering. */
  enteredAt: Millis | undefined
  /** Positions, in the order they were received. */
  readonly positions: Array<number>
  /** Distinct grants received: token and instant. */
  readonly grants: Array<{ readonly token: string; readonly grantedAt: Millis }>
  /** The status of the last response. */
  status: QueueState["status"]
}

/** The crowd's notes and their current totals. */
export interface Crowd {
  readonly notes: Array<Notes>
  readonly tally: {
    entered: number
    waiting: number
    admitted: number
    expired: number
    completed: number
    left: number
    turnedAway: number
    /** Responses to polls. */
    polls: number
    /** Failed attempts that were retried. */
    retries: number
  }
}

export const make = (): Crowd => ({
  notes: [],
  tally: {
    entered: 0,
    waiting: 0,
    admitted: 0,
    expired: 0,
    completed: 0,
    left: 0,
    turnedAway: 0,
    polls: 0,
    retries: 0
  }
})

const leaversShare = 0.08
const forgettersShare = 0.12

/** Sends consumers to the queue within some seconds. Returns when all have finished. */
export const visit = Effect.fnUntraced(function* (
  crowd: Crowd,
  client: Client,
  queueId: string,
  { consumers, seconds }: { readonly consumers: number; readonly seconds: number }
) {
  const due = instants({ kind: "herd", seconds }, consumers, yield* Random.nextInt)
  yield* startWhenDue(due, yield* stopwatch, () => simulate(crowd, client, queueId))
})

/** Simulates one consumer from its session to its end. */
const simulate = Effect.fnUntraced(function* (crowd: Crowd, client: Client, queueId: string) {
  const { tally } = crowd
  const session = yield* client.guest
  const { consumerId } = session
  const chance = yield* Random.next
  const behaviour = chance < leaversShare ? "leaves" : chance < leaversShare + forgettersShare ? "forgets" : "buys"
  const notes: Notes = { consumerId, behaviour, enteredAt: undefined, positions: [], grants: [], status: "NOT_QUEUED" }
  crowd.notes.push(notes)

  const noted = (request: Effect.Effect<QueueState, RequestError>) =>
    Effect.tap(request, (place) => Effect.sync(() => note(tally, notes, place)))
  const consumer = client.consumer(session)
  const params = { queueId }
  const look = noted(
    Effect.tap(
      consumer((api) => api.queues.status({ params })),
      () => Effect.sync(() => (tally.polls += 1))
    )
  )
  const pause = Effect.fnUntraced(function* (place: QueueState) {
    yield* Effect.sleep(pauseMillis(place) * (0.75 + (yield* Random.next) / 2))
    return yield* look
  })
  /** Acts on the place; if it has changed in the meantime, looks at it instead. */
  const act = (request: Effect.Effect<QueueState, RequestError>) =>
    Effect.catchIf(
      noted(request),
      ({ reason }) => reason === "409",
      () => look
    )

  const entered = yield* noted(consumer((api) => api.queues.enter({ params })))
  const givesUpAt = (yield* Clock.currentTimeMillis) + (yield* Random.nextIntBetween(2_000, 10_000))
  yield* passQueue(entered, {
    wait: Effect.fnUntraced(function* (place) {
      const givesUp = behaviour === "leaves" && (yield* Clock.currentTimeMillis) > givesUpAt
      return yield* givesUp ? act(consumer((api) => api.queues.leave({ params }))) : pause(place)
    }),
    spend: Effect.fnUntraced(function* (place) {
      if (behaviour !== "buys") return yield* pause(place)
      // It browses for a moment. If the grant expires in between, the next look shows it.
      yield* Effect.sleep(yield* Random.nextIntBetween(200, 1_500))
      const payload = { consumerId, token: place.admissionGrant }
      const validity = yield* client.shop((api) => api.queues.validate({ params, payload }))
      if (validity !== true) return yield* Effect.delay(look, "500 millis")
      return yield* act(client.shop((api) => api.queues.complete({ params, payload: { consumerId } })))
    })
  })
})

/** Notes a response. */
const note = (tally: Crowd["tally"], notes: Notes, place: QueueState): void => {
  const { status } = place
  if (status !== "NOT_QUEUED" && notes.enteredAt === undefined) {
    notes.enteredAt = place.enteredAt
    tally.entered += 1
  }
  if (status === "QUEUED" && place.position !== undefined) notes.positions.push(place.position)
  // Grants are distinct by their instant. The token of one grant may be signed again for each response.
  if (status === "GRANTED" && !notes.grants.some(({ grantedAt }) => grantedAt === place.grantedAt)) {
    notes.grants.push({ token: place.admissionGrant, grantedAt: place.grantedAt })
    tally.admitted += 1
  }
  if (status === notes.status) return
  if (notes.status === "QUEUED") tally.waiting -= 1
  notes.status = status
  if (status === "QUEUED") tally.waiting += 1
  else if (status === "COMPLETED") tally.completed += 1
  else if (status === "LEFT") tally.left += 1
  else if (status === "DENIED") tally[place.reason === "ADMISSION_EXPIRED" ? "expired" : "turnedAway"] += 1
}

/** Returns the pause until the next poll. Consumers far back poll less often. */
const pauseMillis = (place: QueueState): number => {
  const { estimatedWaitTimeInSeconds = 4 } = place.status === "QUEUED" ? place : {}
  return Math.min(2_000, Math.max(400, estimatedWaitTimeInSeconds * 125))
}
