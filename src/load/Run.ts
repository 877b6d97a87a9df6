/**
 * Runs the load: each consumer starts a guest session, and takes the steps of `Journeys.ts` in its mechanism. A
 * consumer's latency counts from the instant at which it was due. So it includes waiting time in this tool and in the
 * server's queue of connections.
 */
import { Cause, Clock, Duration, Effect, Fiber, type Redacted, Schedule, Semaphore } from "effect"
import type { Kind } from "../domain/mechanism/Mechanism.ts"
import type { Arrival, Part } from "./Arrivals.ts"
import { instants, partOf, peakOf } from "./Arrivals.ts"
import * as Client from "./Client.ts"
import * as Ground from "./Ground.ts"
import { makeJourney } from "./Journeys.ts"
import { choices, type Mix } from "./Mix.ts"
import { prove, proveEntries } from "./Proofs.ts"
import type { Proof, Report } from "./Report.ts"
import { watch } from "./ServerSeries.ts"
import { Tally } from "./Tally.ts"

export interface Options extends Client.Target {
  readonly consumers: number
  readonly arrival: Arrival
  /** The arrival as the operator wrote it. */
  readonly arrivalText: string
  readonly watch: "stream" | "poll"
  /** The kinds that consumers enter. */
  readonly mix: Mix
  /** The mix as the operator wrote it. */
  readonly mixText: string
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

/**
 * Runs the load, proves its invariants, archives what it made, and returns the report. There is a report whatever
 * happens: if the servers are away before or after the arrivals, and if the run is asked to stop. It then says so among
 * its proofs. Only keys of live mode are refused without one.
 */
export const run = Effect.fnUntraced(function* (
  options: Options,
  onSecond: OnSecond,
  stopRequested: Effect.Effect<void> = Effect.never
) {
  yield* Ground.requireTestKeys(options)
  const tally = new Tally()
  const client = yield* Client.make(options, () => tally.requests++)
  const due = partOf(instants(options.arrival, options.consumers, options.seed), options.part)
  const found: Found = { startedAt: yield* Clock.currentTimeMillis, proofs: [], readings: () => [] }
  const work = Effect.scoped(perform(options, { client, tally, due }, found, onSecond))
  const failed = yield* Effect.raceFirst(
    Effect.as(work, undefined),
    Effect.as(stopRequested, "it was asked to stop")
  ).pipe(Effect.catchCause((cause) => Effect.succeed(reasonOf(cause))))
  tally.unsent = due.length - tally.total("due")
  const report: Report = {
    format: "usher-load-1",
    url: options.url,
    startedAt: new Date(found.startedAt).toISOString(),
    parts: [`${options.part.part}/${options.part.of}`],
    arrival: options.arrivalText,
    watch: options.watch,
    admitRate: options.admitRate,
    ...tally.figures(),
    mix: options.mixText,
    proofs:
      failed === undefined
        ? found.proofs
        : [...found.proofs, { claim: "The run came to its end", holds: false, detail: failed }],
    ...(options.metricsUrls.length > 0 && { servers: found.readings() })
  }
  return report
})

/** What a run has found so far. */
interface Found {
  startedAt: number
  proofs: ReadonlyArray<Proof>
  readings: () => NonNullable<Report["servers"]>
}

/** How often the recorded events are asked for again, once a second, while the servers are away. */
const historyRetries = 30

const perform = Effect.fnUntraced(function* (
  options: Options,
  { client, tally, due }: Omit<World, "mechanisms">,
  found: Found,
  onSecond: OnSecond
) {
  const { part, of } = options.part
  const peak = Math.ceil(peakOf(options.arrival, options.consumers) / of)
  yield* Ground.requireLeave(client, { peak, seconds: (due.at(-1) ?? 0) / 1_000 })
  found.readings = yield* watch(options.metricsUrls, options.operationsToken)
  const kinds = options.mix.map(([kind]) => kind)
  const label = `Load test, part ${part} of ${of}`
  const mechanisms = yield* Ground.acquireMechanisms(client, kinds, { ...options, label })
  tally.requests = 0
  found.startedAt = yield* Clock.currentTimeMillis
  yield* arrive(options, { client, tally, due, mechanisms }, onSecond)
  for (const mechanism of mechanisms.values()) {
    const history = yield* Effect.retry(Ground.historyOf(client, mechanism.id), {
      times: historyRetries,
      schedule: Schedule.spaced("1 second")
    })
    const answers = tally.of(mechanism.kind)
    const proofs =
      mechanism.kind === "queue"
        ? prove(history, answers, options.admitRate)
        : proveEntries(mechanism.kind, history, answers, options.consumers)
    found.proofs = [...found.proofs, ...proofs]
  }
})

/** The message of a failure, for the report. */
const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error && error.message !== "" ? error.message : String(error)
}

interface World {
  readonly client: Client.Client
  readonly tally: Tally
  readonly due: Float64Array
  readonly mechanisms: ReadonlyMap<Kind, Ground.Mechanism>
}

/** Starts each consumer when it is due, and waits until all are through or the patience ends. */
const arrive = Effect.fnUntraced(function* (options: Options, world: World, onSecond: OnSecond) {
  const { tally, due } = world
  const clock = yield* Clock.Clock
  const startedAt = clock.monotonicTimeNanosUnsafe()
  const now = () => Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e6
  const slots = yield* Semaphore.make(options.connections)
  const consumer = makeJourney({ ...world, watch: options.watch, slots, now })
  const kinds = choices(options.mix, options.consumers, options.seed, options.part)
  const arrivals = Effect.gen(function* () {
    const fibers: Array<Fiber.Fiber<unknown>> = []
    for (const [number, at] of due.entries()) {
      const wait = at - now()
      if (wait > 0) yield* Effect.sleep(Duration.millis(wait))
      else if (fibers.length % 64 === 0) yield* Effect.yieldNow
      fibers.push(yield* Effect.forkChild(consumer(kinds[number]!, at, number)))
    }
    yield* Fiber.awaitAll(fibers)
  })
  const patience = Duration.millis((due.at(-1) ?? 0) + options.patienceSeconds * 1_000)
  const seconds = Effect.forever(Effect.andThen(Effect.sleep("1 second"), onSecond(tally, due.length)))
  yield* Effect.raceFirst(arrivals, seconds).pipe(Effect.timeoutOption(patience))
})
