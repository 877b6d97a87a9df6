/**
 * The steps of a consumer in a mechanism of each kind. In a queue it watches its place until it is admitted, and the
 * shop completes the grant. In a timed release the entry is the grant, and the shop completes it. In an auction it bids
 * more than those before it, and may be too late. In a draw and a waitlist it enters and looks at its place. In an
 * appointment it books a slot.
 */
import { Duration, Effect, FiberSet, Result, Schema, type Semaphore, Stream } from "effect"
import { HttpApiClient } from "effect/http-api"
import { ConsumerApi } from "../api/consumer/ConsumerApi.ts"
import { QueueState } from "../api/consumer/QueueApi.ts"
import type { Kind } from "../domain/mechanism/Decider.ts"
import { type Client, RequestError } from "./Client.ts"
import type { Mechanism } from "./Setup.ts"
import type { Tally } from "./Tally.ts"

/** What all journeys of a run share. */
export interface RunContext {
  readonly client: Client
  readonly tally: Tally
  readonly mechanisms: ReadonlyMap<Kind, Mechanism>
  readonly watch: "stream" | "poll"
  /** Requests in progress at once. */
  readonly slots: Semaphore.Semaphore
  /** Milliseconds since the start. */
  readonly now: () => number
}

/** A place in a queue with this status. */
type PlaceIn<Status extends QueueState["status"]> = Extract<QueueState, { readonly status: Status }>

/** What a consumer does in a queue. Each act returns the consumer's place after it. */
export interface QueueActs<E> {
  readonly wait: (place: PlaceIn<"QUEUED">) => Effect.Effect<QueueState, E>
  readonly spend: (place: PlaceIn<"GRANTED">) => Effect.Effect<QueueState, E>
}

/** Waits in a queue and spends the grant, until the place has ended. Returns the last place. */
export const passQueue = Effect.fnUntraced(function* <E>(entered: QueueState, { wait, spend }: QueueActs<E>) {
  let place = entered
  for (;;) {
    if (place.status === "QUEUED") place = yield* wait(place)
    else if (place.status === "GRANTED") place = yield* spend(place)
    else return place
  }
})

/** Returns the milliseconds since it was made. */
export const stopwatch = Effect.clockWith((clock) =>
  Effect.sync(() => {
    const startedAt = clock.monotonicTimeNanosUnsafe()
    return () => Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e6
  })
)

/** Starts each consumer when it is due, and waits until all have ended. Fails as soon as one of them fails. */
export const startWhenDue = <E, R>(
  due: Float64Array,
  now: () => number,
  start: (at: number, number: number) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const fibers = yield* FiberSet.make<void, E>()
    const arrivals = Effect.gen(function* () {
      for (const [number, at] of due.entries()) {
        const wait = at - now()
        if (wait > 0) yield* Effect.sleep(Duration.millis(wait))
        else if (number % 64 === 0) yield* Effect.yieldNow
        yield* FiberSet.run(fibers, start(at, number))
      }
      yield* FiberSet.awaitEmpty(fibers)
    })
    yield* Effect.raceFirst(arrivals, FiberSet.join(fibers))
  }).pipe(Effect.scoped)

/** Between two polls of one consumer. */
const pollPause = Duration.seconds(1)

/** A consumer that is due at an instant. `number` counts the arrivals. */
interface Arrival {
  readonly at: number
  readonly number: number
}

/** Makes the function that makes one consumer's journey. A failed request ends it. */
export const makeJourney = (context: RunContext) => {
  const { tally, mechanisms, now } = context
  return (kind: Kind, arrival: Arrival) =>
    Effect.suspend(() => {
      tally.late(now() - arrival.at, now())
      return journeys[kind](context, mechanisms.get(kind)!, arrival)
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.sync(() => {
          const [reason] = cause.reasons
          if (reason?._tag === "Fail") tally.fail(reason.error.reason, now())
          else if (reason?._tag === "Die") tally.fail("defect", now())
        })
      )
    )
}

/** Sends a consumer's requests. */
type Caller = ReturnType<Client["consumer"]>

/** Starts a session and enters. Both are one piece of work, so that a consumer that has begun is not overtaken by others. */
const arrive = <Place extends object>(
  { client, tally, slots, now }: RunContext,
  { kind }: Mechanism,
  { at }: Arrival,
  enter: (consumer: Caller) => Effect.Effect<Place, RequestError>
) =>
  Effect.gen(function* () {
    tally.count("due", now())
    const session = yield* client.guest
    const consumer = client.consumer(session)
    const place = yield* enter(consumer)
    const position = "position" in place && typeof place.position === "number" ? place.position : undefined
    tally.enter(kind, session.consumerId, position, now() - at, now())
    return { consumerId: session.consumerId, consumer, place }
  }).pipe(slots.withPermits(1))

type Journey = (context: RunContext, mechanism: Mechanism, arrival: Arrival) => Effect.Effect<void, RequestError>

const unexpected = (status: string) => new RequestError({ reason: status, code: "", detail: "" })

/** Enters a queue, waits in it, and lets the shop complete the grant. */
const throughQueue: Journey = Effect.fnUntraced(function* (context, mechanism, arrival) {
  const { client, tally, watch, slots, now } = context
  const params = { queueId: mechanism.id }
  const entry = yield* arrive(context, mechanism, arrival, (consumer) =>
    consumer((api) => api.queues.enter({ params }))
  )
  const { consumerId, consumer } = entry
  const poll = consumer((api) => api.queues.status({ params })).pipe(
    slots.withPermits(1),
    Effect.delay(pollPause),
    Effect.repeat({ until: isDecided })
  )
  const last = yield* passQueue(entry.place, {
    wait: () => {
      tally.waiting++
      const decided = watch === "poll" ? poll : firstDecided(consumer, mechanism.id)
      return Effect.tap(decided, () => Effect.sync(() => tally.waiting--))
    },
    spend: () => {
      tally.grant(mechanism.kind, consumerId, now())
      return slots.withPermits(1)(client.shop((api) => api.queues.complete({ params, payload: { consumerId } })))
    }
  })
  if (last.status !== "COMPLETED") return yield* unexpected(last.status)
  tally.count("completed", now())
})

/** Enters a timed release, and lets the shop complete the grant. */
const throughRelease: Journey = Effect.fnUntraced(function* (context, mechanism, arrival) {
  const { client, tally, slots, now } = context
  const params = { timedReleaseId: mechanism.id }
  const { consumerId, place } = yield* arrive(context, mechanism, arrival, (consumer) =>
    consumer((api) => api.timedReleases.enter({ params, payload: {} }))
  )
  if (place.status !== "ENTERED") return yield* unexpected(place.status)
  tally.grant(mechanism.kind, consumerId, now())
  yield* slots.withPermits(1)(client.shop((api) => api.timedReleases.complete({ params, payload: { consumerId } })))
  tally.count("completed", now())
})

/** Enters, and looks at the place once. */
const enterAndLook =
  (
    requestsOf: (
      consumer: Caller,
      mechanism: Mechanism,
      number: number
    ) => { readonly enter: Effect.Effect<object, RequestError>; readonly look: Effect.Effect<unknown, RequestError> }
  ): Journey =>
  (context, mechanism, arrival) =>
    arrive(context, mechanism, arrival, (consumer) => requestsOf(consumer, mechanism, arrival.number).enter).pipe(
      Effect.flatMap(({ consumer }) =>
        context.slots.withPermits(1)(requestsOf(consumer, mechanism, arrival.number).look)
      )
    )

const intoAuction = enterAndLook((consumer, { id }, number) => ({
  enter: consumer((api) => api.auctions.bid({ params: { auctionId: id }, payload: { amount: `${number + 1}` } })),
  look: consumer((api) => api.auctions.status({ params: { auctionId: id } }))
}))

const journeys: { readonly [K in Kind]: Journey } = {
  queue: throughQueue,
  timed_release: throughRelease,
  auction: (context, mechanism, arrival) =>
    intoAuction(context, mechanism, arrival).pipe(
      // Another bid was higher meanwhile.
      Effect.catchIf(
        ({ reason }) => reason === "409",
        () => Effect.sync(() => context.tally.refuse(mechanism.kind))
      )
    ),
  draw: enterAndLook((consumer, { id }) => ({
    enter: consumer((api) => api.draws.enter({ params: { drawId: id } })),
    look: consumer((api) => api.draws.status({ params: { drawId: id } }))
  })),
  waitlist: enterAndLook((consumer, { id }) => ({
    enter: consumer((api) => api.waitlists.enter({ params: { waitlistId: id } })),
    look: consumer((api) => api.waitlists.status({ params: { waitlistId: id } }))
  })),
  appointment: enterAndLook((consumer, { id, slotIds = [] }, number) => ({
    enter: consumer((api) =>
      api.appointments.book({
        params: { appointmentId: id },
        payload: { slotId: slotIds[number % slotIds.length]! }
      })
    ),
    look: consumer((api) => api.appointments.me({ params: { appointmentId: id } }))
  }))
}

const isDecided = ({ status }: QueueState): boolean => status !== "QUEUED" && status !== "NOT_QUEUED"

const decodeState = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(QueueState)))
const refusalOf = HttpApiClient.decodeResponse(ConsumerApi, { group: "queues", endpoint: "events" })

/**
 * Returns the first decided place that the live stream sends. It reads the body itself: HttpApi's decoder ends a stream
 * at the field `retry`, with which every stream of Usher begins.
 */
const firstDecided = (consumer: Caller, queueId: string): Effect.Effect<QueueState, RequestError> =>
  consumer((api) =>
    api.queues
      .events({ params: { queueId }, headers: {}, responseMode: "response-only" })
      .pipe(Effect.tap((response) => (response.status === 200 ? Effect.void : refusalOf(response))))
  ).pipe(
    Effect.map(({ stream }) =>
      stream.pipe(
        Stream.mapError(({ message }) => new RequestError({ reason: "no answer", code: "", detail: message })),
        Stream.decodeText(),
        Stream.splitLines,
        Stream.filter((line) => line.startsWith("data: ")),
        Stream.map((line) => decodeState(line.slice("data: ".length))),
        Stream.filter(Result.isSuccess),
        Stream.map(({ success }) => success),
        Stream.filter(isDecided)
      )
    ),
    Stream.unwrap,
    Stream.runHead,
    Effect.flatMap(Effect.fromOption),
    Effect.catchTag("NoSuchElementError", () => Effect.fail(unexpected("stream ended")))
  )
