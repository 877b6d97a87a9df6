/** Load on processes that serve together: entries of new consumers through all of them, and what these cost each. */
import { type Bench, closedLoop } from "../Bench.ts"
import type { ClosedLoopJob, Outcome, RequestTemplates, Watched } from "../load/Job.ts"
import { LoadGenerator } from "../load/LoadGenerator.ts"
import { readProcessorSeconds } from "../load/Processor.ts"
import { enterRequest, statusRequest } from "../programs/Program.ts"

/** Processes that serve the same queues. */
export interface Served {
  /** Each port gets a generator of its own, and its share of connections and consumers. */
  readonly ports: ReadonlyArray<number>
  readonly queueIds: ReadonlyArray<string>
  readonly watched: ReadonlyArray<Watched>
  countEntries(): Promise<number>
}

/** Requests that several generators sent at the same time. */
export interface Requests {
  readonly perSecond: number
  readonly latencyP99Milliseconds: number
  /** How many requests each port has answered, in the sequence of the ports, warm-up included. */
  readonly answered: ReadonlyArray<number>
  /** Some bodies. */
  readonly samples: ReadonlyArray<string>
  /** Returns the processor time of a process for each request. */
  microseconds(name: string): number
}

/**
 * New consumers enter all queues through all ports. Every acknowledged entry must be in the database afterwards. The
 * processor time includes what is written after the run.
 */
export async function entriesThrough(bench: Bench, served: Served, connections: number): Promise<Requests> {
  const { spans } = bench
  const before = await served.countEntries()
  const requests = await requestsThrough(served, (_, index) =>
    closedLoop({
      ...watchedLoad(served, connections, spans, index),
      shownFirst: { request: statusRequest(bench.setup.fixture), seconds: (spans.warmup + spans.measured) * 1.5 },
      request: entering(bench, served.queueIds),
      tokens: bench.tokens.range(shareOf(bench, served), index * shareOf(bench, served))
    })
  )
  const spentBefore = readProcessorSeconds(served.watched)
  const kept = (await served.countEntries()) - before
  const spentAfter = readProcessorSeconds(served.watched)
  const acknowledged = requests.answered.reduce((total, count) => total + count, 0)
  if (kept !== acknowledged) throw new Error(`${acknowledged} entries are acknowledged and ${kept} are in the store`)
  return {
    ...requests,
    microseconds: (name) =>
      requests.microseconds(name) + (((spentAfter[name] ?? 0) - (spentBefore[name] ?? 0)) / acknowledged) * 1e6
  }
}

/** The consumers of each port. Those of the first port come first. */
export const shareOf = (bench: Bench, { ports }: Pick<Served, "ports">): number =>
  Math.floor(bench.spans.tokens / ports.length)

/** Returns what the measured job of a port has: its share of the connections. The first one watches the processes. */
export const watchedLoad = (
  { ports, watched }: Served,
  connections: number,
  spans: { readonly warmup: number; readonly measured: number },
  index: number
) => ({
  port: ports[index]!,
  connections: Math.floor(connections / ports.length),
  warmupSeconds: spans.warmup,
  seconds: spans.measured,
  watched: index === 0 ? watched : []
})

/** Sends a job to each port at the same time. */
export async function requestsThrough(
  { ports }: Pick<Served, "ports">,
  jobOf: (port: number, index: number) => ClosedLoopJob
): Promise<Requests> {
  const outcomes = await Promise.all(
    ports.map((port, index) => withGenerator((generator) => generator.run(jobOf(port, index))))
  )
  const [{ seconds, processorSeconds }] = outcomes as [Outcome]
  const perSecond = outcomes.reduce((total, outcome) => total + outcome.perSecond, 0)
  return {
    perSecond,
    latencyP99Milliseconds: Math.max(...outcomes.map(({ latency }) => latency.p99)) / 1000,
    answered: outcomes.map(({ statuses }) => statuses["200"] ?? 0),
    samples: outcomes.flatMap(({ samples }) => samples),
    microseconds: (name) => ((processorSeconds[name] ?? Number.NaN) / seconds / perSecond) * 1e6
  }
}

export const entering = (bench: Bench, queueIds: ReadonlyArray<string>): RequestTemplates => ({
  heads: queueIds.map((id) => enterRequest(bench.setup.fixture, id).head),
  tail: enterRequest(bench.setup.fixture).tail
})

export async function withGenerator<A>(use: (generator: LoadGenerator) => Promise<A>): Promise<A> {
  const generator = new LoadGenerator()
  try {
    return await use(generator)
  } finally {
    generator.stop()
  }
}
