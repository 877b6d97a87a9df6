/**
 * Runs the load: each consumer starts a guest session, enters, watches its place until it is admitted, and completes. A
 * consumer's latency counts from the instant at which it was due, so time that it waits in this tool or in the server's
 * queue of connections is not hidden.
 */
import { Clock, Duration, Effect, Exit, Fiber, type Redacted, Semaphore, Stream } from "effect"
import type { Arrival, Part } from "./Arrivals.ts"
import { instants, partOf, peakOf } from "./Arrivals.ts"
import * as Client from "./Client.ts"
import * as Ground from "./Ground.ts"
import { prove } from "./Proofs.ts"
import type { Report } from "./Report.ts"
import { watch } from "./ServerSeries.ts"
import { Tally } from "./Tally.ts"

export interface Options extends Client.Target {
  readonly consumers: number
  readonly arrival: Arrival
  /** The arrival as the operator wrote it. */
  readonly arrivalText: string
  readonly watch: "stream" | "poll"
  readonly part: Part
  readonly seed: number
  /** Admissions a minute. */
  readonly admitRate: number
  /** Requests in progress at once. */
  readonly connections: number
  /** Seconds after the last arrival in which consumers may still be admitted. */
  readonly patienceSeconds: number
  /** The addresses of the servers' measures; none: they are not read. */
  readonly metricsUrls: ReadonlyArray<string>
  /** The token of the servers' operations ports, if they ask for one. */
  readonly operationsToken?: Redacted.Redacted
}

/** Called once a second while the load runs. */
export type OnSecond = (tally: Tally, due: number) => Effect.Effect<void>

/** Between two polls of one consumer. */
const pollPause = Duration.seconds(1)

/** Runs the load, proves its invariants, archives what it made, and returns the report. */
export const run = Effect.fnUntraced(function* (options: Options, onSecond: OnSecond) {
  yield* Ground.requireTestKeys(options)
  const tally = new Tally()
  const client = yield* Client.make(options, () => tally.requests++)
  const all = instants(options.arrival, options.consumers, options.seed)
  const due = partOf(all, options.part)
  const peak = Math.ceil(peakOf(options.arrival, options.consumers) / options.part.of)
  yield* Ground.requireLeave(client, { peak, seconds: (all.at(-1) ?? 0) / 1_000 })
  const label = `Load test, part ${options.part.part} of ${options.part.of}`
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const readings = yield* watch(options.metricsUrls, options.operationsToken)
      const queueId = yield* Ground.acquireQueue(client, options.admitRate, label)
      tally.requests = 0
      const startedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
      yield* arrive(options, { client, tally, due, queueId }, onSecond)
      const figures = tally.figures()
      const history = yield* Ground.historyOf(client, queueId)
      const report: Report = {
        format: "usher-load-1",
        url: options.url,
        startedAt,
        parts: [`${options.part.part}/${options.part.of}`],
        arrival: options.arrivalText,
        watch: options.watch,
        admitRate: options.admitRate,
        ...figures,
        proofs: prove(history, tally, options.admitRate),
        ...(options.metricsUrls.length > 0 && { servers: readings() })
      }
      return report
    })
  )
})

interface World {
  readonly client: Client.Client
  readonly tally: Tally
  readonly due: Float64Array
  readonly queueId: string
}

/** Starts each consumer when it is due, and waits until all are through or the patience ends. */
const arrive = Effect.fnUntraced(function* (options: Options, world: World, onSecond: OnSecond) {
  const { tally, due } = world
  const clock = yield* Clock.Clock
  const startedAt = clock.monotonicTimeNanosUnsafe()
  const now = () => Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e6
  const slots = yield* Semaphore.make(options.connections)
  const consumer = makeConsumer(options, world, slots, now)
  const arrivals = Effect.gen(function* () {
    const fibers: Array<Fiber.Fiber<unknown>> = []
    for (const at of due) {
      const wait = at - now()
      if (wait > 0) yield* Effect.sleep(Duration.millis(wait))
      else if (fibers.length % 64 === 0) yield* Effect.yieldNow
      fibers.push(yield* Effect.forkChild(consumer(at)))
    }
    yield* Fiber.awaitAll(fibers)
  })
  const patience = Duration.millis((due.at(-1) ?? 0) + options.patienceSeconds * 1_000)
  const seconds = Effect.forever(Effect.andThen(Effect.sleep("1 second"), onSecond(tally, due.length)))
  yield* Effect.raceFirst(arrivals, seconds).pipe(Effect.timeoutOption(patience))
  tally.unsent = due.length - tally.total("due")
})

/** Makes the journey of one consumer. A failed request ends it. */
const makeConsumer = (
  { watch }: Options,
  { client, tally, queueId }: World,
  slots: Semaphore.Semaphore,
  now: () => number
) => {
  const limited = slots.withPermits(1)

  const poll = (session: Client.Session) =>
    Effect.sleep(pollPause).pipe(
      Effect.andThen(limited(client.status(queueId, session))),
      Effect.repeat({ until: isDecided })
    )
  const stream = (session: Client.Session) =>
    client.places(queueId, session).pipe(
      Stream.filter(isDecided),
      Stream.runHead,
      Effect.flatMap(Effect.fromOption),
      Effect.catchTag("NoSuchElementError", () =>
        Effect.fail(new Client.Failed({ reason: "stream ended", detail: "before the consumer was admitted" }))
      )
    )

  const arrived = (at: number) =>
    Effect.gen(function* () {
      tally.count("due", now())
      const session = yield* client.guest
      const place = yield* client.enter(queueId, session)
      tally.positions.set(session.consumerId, place.position ?? undefined)
      tally.waiting++
      tally.enter(now() - at, now())
      return { session, place }
    })

  return (at: number) =>
    Effect.gen(function* () {
      tally.late(now() - at, now())
      const { session, place } = yield* limited(arrived(at))
      const decided = isDecided(place) ? place : yield* (watch === "poll" ? poll : stream)(session)
      tally.waiting--
      if (decided.status !== "GRANTED") return yield* new Client.Failed({ reason: decided.status, detail: "" })
      tally.granted.add(session.consumerId)
      tally.count("granted", now())
      yield* limited(client.complete(queueId, session))
      tally.count("completed", now())
    }).pipe(
      Effect.exit,
      Effect.map((exit) => {
        if (Exit.isSuccess(exit)) return
        const [reason] = exit.cause.reasons
        if (reason?._tag === "Fail") tally.fail(reason.error.reason, now())
        else if (reason?._tag === "Die") tally.fail("defect", now())
      })
    )
}

const isDecided = ({ status }: Client.Place): boolean => status !== "QUEUED" && status !== "NOT_QUEUED"
