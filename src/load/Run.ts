/**
 * Runs the load: each consumer starts a guest session, and takes the steps of `Journeys.ts` in its mechanism. A
 * consumer's latency counts from the instant at which it was due. So it includes waiting time in this tool and in the
 * server's queue of connections.
 */
import { Cause, Clock, Duration, Effect, type Redacted, Schedule, Semaphore } from "effect"
import { type Arrival, instants, type Part, partOf, peakOf } from "./Arrivals.ts"
import * as Client from "./Client.ts"
import { makeJourney, type RunContext, startWhenDue, stopwatch } from "./Journeys.ts"
import { choices, type Mix } from "./Mix.ts"
import { prove, proveEntries } from "./Proofs.ts"
import type { Proof, Report } from "./Report.ts"
import { watch } from "./ServerSeries.ts"
import * as Setup from "./Setup.ts"
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
  yield* Setup.requireTestKeys(options)
  const tally = new Tally()
  const client = yield* Client.make(options, { onRequest: () => tally.requests++ })
  const due = partOf(instants(options.arrival, options.consumers, options.seed), options.part)
  const results: Results = { startedAt: yield* Clock.currentTimeMillis, proofs: [], readings: () => [] }
  const work = Effect.scoped(perform({ options, client, tally, due, results, onSecond }))
  const failed = yield* Effect.raceFirst(
    Effect.as(work, undefined),
    Effect.as(stopRequested, "it was asked to stop")
  ).pipe(Effect.catchCause((cause) => Effect.succeed(reasonOf(cause))))
  tally.unsent = due.length - tally.total("due")
  const report: Report = {
    format: "usher-load-1",
    url: options.url,
    startedAt: new Date(results.startedAt).toISOString(),
    parts: [`${options.part.part}/${options.part.of}`],
    arrival: options.arrivalText,
    watch: options.watch,
    admitRate: options.admitRate,
    ...tally.figures(),
    mix: options.mixText,
    proofs:
      failed === undefined
        ? results.proofs
        : [...results.proofs, { claim: "The run came to its end", holds: false, detail: failed }],
    ...(options.metricsUrls.length > 0 && {
      servers: results.readings(),
      serverCount: options.metricsUrls.length
    })
  }
  return report
})

/** The results of a run so far, for a report whatever happens. */
interface Results {
  startedAt: number
  proofs: ReadonlyArray<Proof>
  readings: () => NonNullable<Report["servers"]>
}

interface Work {
  readonly options: Options
  readonly client: Client.Client
  readonly tally: Tally
  /** When each consumer arrives, in milliseconds after the start. */
  readonly due: Float64Array
  readonly results: Results
  readonly onSecond: OnSecond
}

/** How often the recorded events are asked for again, once a second, while the servers are away. */
const historyRetries = 30

const perform = Effect.fnUntraced(function* (work: Work) {
  const { options, client, tally, due, results } = work
  const { part, of } = options.part
  const peak = Math.ceil(peakOf(options.arrival, options.consumers) / of)
  yield* Setup.requirePermission(client, { peak, seconds: (due.at(-1) ?? 0) / 1_000 })
  results.readings = yield* watch(options.metricsUrls, options.operationsToken)
  const kinds = options.mix.map(([kind]) => kind)
  const label = `Load test, part ${part} of ${of}`
  const mechanisms = yield* Setup.acquireMechanisms(client, kinds, { ...options, label })
  tally.requests = 0
  results.startedAt = yield* Clock.currentTimeMillis
  yield* arrive(work, mechanisms)
  for (const { kind, id } of mechanisms.values()) {
    const history = yield* Client.historyOf(client, id).pipe(
      Setup.orRefused("The history could not be read"),
      Effect.retry({ times: historyRetries, schedule: Schedule.spaced("1 second") })
    )
    const answers = tally.of(kind)
    const proofs =
      kind === "queue"
        ? prove(history, answers, options.admitRate)
        : proveEntries(kind, history, answers, options.consumers)
    results.proofs = [...results.proofs, ...proofs]
  }
})

/** The message of a failure, for the report. */
const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error && error.message !== "" ? error.message : String(error)
}

/** Starts each consumer when it is due, and waits until all are through or the patience ends. */
const arrive = Effect.fnUntraced(function* (
  { options, client, tally, due, onSecond }: Work,
  mechanisms: RunContext["mechanisms"]
) {
  const now = yield* stopwatch
  const slots = yield* Semaphore.make(options.connections)
  const journey = makeJourney({ client, tally, mechanisms, watch: options.watch, slots, now })
  const kinds = choices(options.mix, options.consumers, options.seed, options.part)
  const arrivals = startWhenDue(due, now, (at, number) => journey(kinds[number]!, at, number))
  const patience = Duration.millis((due.at(-1) ?? 0) + options.patienceSeconds * 1_000)
  const seconds = Effect.forever(Effect.andThen(Effect.sleep("1 second"), onSecond(tally, due.length)))
  yield* Effect.raceFirst(arrivals, seconds).pipe(Effect.timeoutOption(patience))
})
