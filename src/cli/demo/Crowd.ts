/**
 * The demo's consumers. Each acts independently, like a person with a browser: it enters, waits, buys, leaves or lets
 * its admission expire. It notes everything that the server acknowledged, and the checks rely on these notes.
 */
import { Clock, Effect, Random } from "effect"
import type { Apis, Place, Session } from "./Apis.ts"

/** The behaviour of a consumer: it buys when admitted, leaves while waiting, or lets the admission expire. */
export type Temper = "buys" | "leaves" | "forgets"

/** A consumer's notes, all from responses of the server. */
export interface Notes {
  readonly consumerId: string
  readonly temper: Temper
  /** From the first response to entering. */
  enteredAt: string | undefined
  /** Positions, in the order they were received. */
  readonly positions: Array<number>
  /** Distinct grants received: token and instant. */
  readonly grants: Array<{ readonly token: string; readonly grantedAt: string }>
  /** The status of the last response. */
  status: Place["status"]
  reason: string | undefined
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

/** Sends consumers to the queue, evenly spread over `overSeconds`. Returns when all have finished. */
export const visit = Effect.fnUntraced(function* (
  crowd: Crowd,
  apis: Apis,
  queueId: string,
  options: { readonly consumers: number; readonly overSeconds: number }
) {
  const spacingMillis = (options.overSeconds * 1000) / options.consumers
  yield* Effect.forEach(
    Array.from({ length: options.consumers }, (_, index) => index),
    (index) => Effect.delay(live(crowd, apis, queueId), index * spacingMillis),
    { concurrency: "unbounded", discard: true }
  )
})

/** Simulates one consumer from its session to its end. */
const live = Effect.fnUntraced(function* (crowd: Crowd, apis: Apis, queueId: string) {
  const session = yield* apis.consumer.session
  const dice = yield* Random.next
  const notes: Notes = {
    consumerId: session.consumerId,
    temper: dice < leaversShare ? "leaves" : dice < leaversShare + forgettersShare ? "forgets" : "buys",
    enteredAt: undefined,
    positions: [],
    grants: [],
    status: "NOT_QUEUED",
    reason: undefined
  }
  crowd.notes.push(notes)

  note(crowd, notes, yield* apis.consumer.enter(queueId, session))
  const givesUpAt = (yield* Clock.currentTimeMillis) + (yield* Random.nextIntBetween(2_000, 10_000))
  while (notes.status === "QUEUED" || notes.status === "GRANTED") {
    const place = yield* apis.consumer.status(queueId, session)
    crowd.tally.polls += 1
    note(crowd, notes, place)
    if (notes.status === "GRANTED" && notes.temper === "buys") yield* buy(crowd, apis, queueId, notes)
    else if (notes.status === "QUEUED" && notes.temper === "leaves" && (yield* Clock.currentTimeMillis) > givesUpAt) {
      yield* leave(crowd, apis, queueId, notes, session)
    } else yield* Effect.sleep(pauseMillis(place) * (0.75 + (yield* Random.next) / 2))
  }
})

/** Browses for a moment, then pays. If the grant expired in between, the next poll shows it. */
const buy = Effect.fnUntraced(function* (crowd: Crowd, apis: Apis, queueId: string, notes: Notes) {
  yield* Effect.sleep(yield* Random.nextIntBetween(200, 1_500))
  const { token } = notes.grants.at(-1)!
  if (!(yield* apis.shop.validate(queueId, notes.consumerId, token))) return yield* Effect.sleep("500 millis")
  yield* apis.shop.complete(queueId, notes.consumerId).pipe(
    Effect.tap((place) => Effect.sync(() => note(crowd, notes, place))),
    Effect.catchTag("Refused", ignoreConflict)
  )
})

const leave = (crowd: Crowd, apis: Apis, queueId: string, notes: Notes, session: Session) =>
  apis.consumer.leave(queueId, session).pipe(
    Effect.tap((place) => Effect.sync(() => note(crowd, notes, place))),
    Effect.catchTag("Refused", ignoreConflict)
  )

/** Ignores a conflict: the place has changed in the meantime. */
const ignoreConflict = <E extends { readonly status: number }>(refused: E) =>
  refused.status === 409 ? Effect.void : Effect.fail(refused)

/** Notes a response. */
const note = ({ tally }: Crowd, notes: Notes, place: Place): void => {
  if (notes.enteredAt === undefined && typeof place.enteredAt === "string") {
    notes.enteredAt = place.enteredAt
    tally.entered += 1
  }
  if (typeof place.position === "number") notes.positions.push(place.position)
  if (place.status === "GRANTED") noteGrant(tally, notes, place)
  if (place.status === notes.status) return
  if (notes.status === "QUEUED") tally.waiting -= 1
  notes.status = place.status
  notes.reason = place.reason ?? undefined
  if (place.status === "QUEUED") tally.waiting += 1
  else if (place.status === "COMPLETED") tally.completed += 1
  else if (place.status === "LEFT") tally.left += 1
  else if (place.reason === "ADMISSION_EXPIRED") tally.expired += 1
  else if (place.status === "DENIED") tally.turnedAway += 1
}

/** Grants are distinct by their instant. The token of one grant may be signed again for each response. */
const noteGrant = (tally: Crowd["tally"], notes: Notes, { admissionGrant, grantedAt }: Place): void => {
  const isKnown = notes.grants.some((grant) => grant.grantedAt === grantedAt)
  if (isKnown || typeof admissionGrant !== "string" || typeof grantedAt !== "string") return
  notes.grants.push({ token: admissionGrant, grantedAt })
  tally.admitted += 1
}

/** Returns the pause until the next poll. Consumers far back poll less often. */
const pauseMillis = ({ estimatedWaitTimeInSeconds }: Place): number =>
  Math.min(2_000, Math.max(400, (estimatedWaitTimeInSeconds ?? 4) * 125))
