/**
 * The steps of a consumer in a mechanism of each kind. In a queue it watches its place until it is admitted, and the
 * shop completes the grant. Where the entry is the grant, the shop completes it at once. In an auction it bids more than
 * those before it, and may be too late. In a draw and a waitlist it enters and looks at its place. In an appointment it
 * books a slot.
 */
import { Duration, Effect, FiberSet, Schema, type Semaphore, Stream } from "effect"
import { HttpApiClient } from "effect/http-api"
import { ConsumerApi } from "../api/consumer/ConsumerApi.ts"
import { QueueState } from "../api/consumer/QueueApi.ts"
import { declarations, grantsOnEntry, type Kind } from "../domain/mechanism/Mechanism.ts"
import { standingOf } from "../domain/mechanism/PlaceFields.ts"
import { type Client, type ConsumerClient, RequestError } from "./Client.ts"
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

/** The places that the load reads. */
interface Place {
  /** Absent in a waitlist. */
  readonly status?: string
  readonly position?: number | null
}

/** Sends a consumer's requests. */
type Caller = ReturnType<Client["consumer"]>

/** The operations of a kind, and the path parameter. Most kinds have the same operations, with a parameter of their own. */
const operationsOf = (api: ConsumerClient, { kind, id }: Mechanism) => {
  const { group, parameter } = declarations[kind]
  const params = { [parameter]: id } as unknown as { readonly queueId: string }
  return [api[group] as unknown as ConsumerClient["queues"], params] as const
}

/** Sends the entry. `number` counts the arrivals. */
const enter = (consumer: Caller, mechanism: Mechanism, number: number): Effect.Effect<Place, RequestError> => {
  const { kind, id, slotIds = [] } = mechanism
  if (kind === "auction") {
    return consumer((api) => api.auctions.bid({ params: { auctionId: id }, payload: { amount: `${number + 1}` } }))
  }
  if (kind === "appointment") {
    const payload = { slotId: slotIds[number % slotIds.length]! }
    return consumer((api) => api.appointments.book({ params: { appointmentId: id }, payload }))
  }
  return consumer((api) => {
    const [operations, params] = operationsOf(api, mechanism)
    // A kind whose entry has a body accepts an empty one.
    return operations.enter({ params, payload: {} } as { readonly params: typeof params })
  })
}

/** Reads the consumer's place. */
const look = (consumer: Caller, mechanism: Mechanism): Effect.Effect<Place, RequestError> =>
  mechanism.kind === "appointment"
    ? consumer((api) => api.appointments.me({ params: { appointmentId: mechanism.id } }))
    : consumer((api) => {
        const [operations, params] = operationsOf(api, mechanism)
        return operations.status({ params })
      })

/** Makes the function that makes one consumer's journey. A failed request ends it. `number` counts the arrivals. */
export const makeJourney = (context: RunContext) => {
  const { tally, mechanisms, slots, now } = context
  const follow = makeFollow(context)

  return (kind: Kind, at: number, number: number) =>
    Effect.gen(function* () {
      tally.late(now() - at, now())
      const mechanism = mechanisms.get(kind)!
      const entry = yield* slots.withPermits(1)(arrive(context, mechanism, at, number))
      if (entry !== undefined) yield* follow(mechanism, entry)
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

/** Starts a session and enters. Undefined if another bid was higher meanwhile. */
const arrive = Effect.fnUntraced(function* (
  { client, tally, now }: RunContext,
  mechanism: Mechanism,
  at: number,
  number: number
) {
  const { kind } = mechanism
  tally.count("due", now())
  const session = yield* client.guest
  const { consumerId } = session
  const consumer = client.consumer(session)
  const place = yield* enter(consumer, mechanism, number).pipe(
    Effect.catchIf(
      ({ reason }) => kind === "auction" && reason === "409",
      () => Effect.undefined
    )
  )
  if (place === undefined) {
    tally.refuse(kind)
    return undefined
  }
  tally.enter(kind, consumerId, place.position ?? undefined, now() - at, now())
  return { consumerId, consumer, place }
})

/** A consumer that has entered. */
interface Entry {
  readonly consumerId: string
  readonly consumer: Caller
  readonly place: Place
}

/** Makes the function that does what follows an entry. */
const makeFollow = ({ client, tally, watch, slots, now }: RunContext) => {
  const limited = slots.withPermits(1)

  const wait = (consumer: Caller, queueId: string) => {
    tally.waiting++
    const status = limited(consumer((api) => api.queues.status({ params: { queueId } })))
    const decided =
      watch === "stream"
        ? firstDecided(consumer, queueId)
        : Effect.repeat(Effect.delay(status, pollPause), { until: isDecided })
    return Effect.tap(decided, () => Effect.sync(() => tally.waiting--))
  }
  const complete = (mechanism: Mechanism, consumerId: string) => {
    tally.grant(mechanism.kind, consumerId, now())
    const request = client.shop((api) => {
      const [operations, params] = operationsOf(api, mechanism)
      return operations.complete({ params, payload: { consumerId } })
    })
    return Effect.tap(limited(request), () => Effect.sync(() => tally.count("completed", now())))
  }

  return Effect.fnUntraced(function* (mechanism: Mechanism, { consumerId, consumer, place }: Entry) {
    const { kind, id } = mechanism
    if (kind === "queue") {
      const { status } = yield* passQueue(place as QueueState, {
        wait: () => wait(consumer, id),
        spend: () => complete(mechanism, consumerId)
      })
      if (status !== "COMPLETED") return yield* unexpected(status)
    } else if (grantsOnEntry(kind)) {
      const { status = "no status" } = place
      if (standingOf(kind, status) !== "admitted") return yield* unexpected(status)
      yield* complete(mechanism, consumerId)
    } else yield* limited(look(consumer, mechanism))
  })
}

const unexpected = (reason: string) => new RequestError({ reason, code: "", detail: "" })

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
        Stream.filterMap((line) => decodeState(line.slice("data: ".length))),
        Stream.filter(isDecided)
      )
    ),
    Stream.unwrap,
    Stream.runHead,
    Effect.flatMap(Effect.fromOption),
    Effect.catchTag("NoSuchElementError", () => Effect.fail(unexpected("stream ended")))
  )
