/** Shared parts of the scenarios: the programs, the generator, the tokens, and one measured run. */
import type { Arguments } from "./Arguments.ts"
import { figures } from "./report/Figures.ts"
import type { ClosedLoopJob, Job, Outcome, RequestTemplate, RequestTemplates } from "./load/Job.ts"
import { readProcessorSeconds, readResidentBytes } from "./load/Processor.ts"
import type { LoadGenerator } from "./load/LoadGenerator.ts"
import * as Progress from "./report/Progress.ts"
import { type Setup, type Program, type Running, enterRequest, statusRequest } from "./programs/Program.ts"
import type { Tokens } from "./setup/Tokens.ts"

export interface Bench {
  readonly arguments: Arguments
  readonly setup: Setup
  readonly programs: ReadonlyArray<Program>
  readonly generator: LoadGenerator
  readonly tokens: Tokens
  readonly rounds: number
  /** Spans in seconds, and the most tokens that a run of entries may use. */
  readonly spans: { readonly warmup: number; readonly measured: number; readonly tokens: number }
  /** The same for one point of a growth curve. */
  readonly pointSpans: { readonly warmup: number; readonly measured: number; readonly tokens: number }
  /** Results that later scenarios use, by scenario. */
  readonly known: Map<string, number>
}

/** The measurements of a run, by figure name. */
export type Measured = { readonly [figure: string]: number }

/** Starts a program, calls `use` to measure it, and always stops it. */
export async function withProgram<A, R extends Running>(
  program: { start(waiting: number): Promise<R> },
  waiting: number,
  use: (running: R) => Promise<A>
): Promise<A> {
  const running = await program.start(waiting)
  try {
    return await use(running)
  } finally {
    await running.stop()
  }
}

/** A program, or a variant of one. */
interface Variant {
  readonly name: string
  readonly missing?: string
}

/**
 * Measures the variants in turns, `rounds` times each, and returns the runs of each. Skips missing ones. Every other round
 * goes backwards, so a machine whose pace changes steadily favours no variant.
 */
export async function runsInTurns<V extends Variant>(
  bench: Bench,
  what: string,
  variants: ReadonlyArray<V>,
  measure: (variant: V) => Promise<Measured>
): Promise<{ readonly [variant: string]: ReadonlyArray<Measured> }> {
  const measured: { [variant: string]: Array<Measured> } = {}
  for (let round = 1; round <= bench.rounds; round++) {
    for (const variant of round % 2 === 1 ? variants : variants.toReversed()) {
      if (variant.missing !== undefined) continue
      Progress.show(`${what}: ${variant.name}, run ${round} of ${bench.rounds}`)
      const result = await measure(variant)
      const runs = (measured[variant.name] ??= [])
      runs.push(result)
      const [name, value] = Object.entries(result)[0]!
      Progress.say(`${what}  ${variant.name.padEnd(16)} run ${round} of ${bench.rounds}  ${name} ${value.toFixed(1)}`)
    }
  }
  return measured
}

/**
 * Measures the variants in turns on one running program, forwards and backwards in each round, and returns the figures of
 * each. Two processes of one program differ by more than a variant that should cost nothing.
 */
export function onOneProgram<V extends Variant>(...[bench, ...rest]: Parameters<typeof runsInTurns<V>>) {
  return inTurns({ ...bench, rounds: 2 * bench.rounds }, ...rest)
}

/** Measures the variants in turns, and returns the figures of each. */
export async function inTurns<V extends Variant>(...given: Parameters<typeof runsInTurns<V>>) {
  return Object.fromEntries(Object.entries(await runsInTurns(...given)).map(([name, runs]) => [name, figures(runs)]))
}

/** Returns a closed-loop job on loopback. Default: no warm-up, no watched processes, and each token once. */
export const closedLoop = (
  job: Pick<ClosedLoopJob, "port" | "connections" | "seconds" | "request" | "tokens"> & Partial<ClosedLoopJob>
): ClosedLoopJob => ({
  mode: "closed",
  host: "127.0.0.1",
  warmupSeconds: 0,
  watched: [],
  repeatTokens: false,
  ...job
})

/** Returns the reason for each program that did not run. */
export function notRun(programs: ReadonlyArray<Program>): { readonly [program: string]: string } {
  return Object.fromEntries(
    programs.flatMap((program) => (program.missing === undefined ? [] : [[program.name, program.missing]]))
  )
}

export interface EntriesOptions {
  readonly connections: number
  readonly waiting: number
  readonly spans: Bench["spans"]
  /** Arrivals a second; absent: closed loop. */
  readonly perSecond?: number
  /** The entry request. Default: an entry into the fixture's queue. */
  readonly request?: RequestTemplate | RequestTemplates
}

/** Measures one run of new consumers that enter. Every acknowledged entry must be in the program's store afterwards. */
export async function measureEntries(bench: Bench, running: Running, options: EntriesOptions): Promise<Outcome> {
  const { connections, spans, perSecond } = options
  const common = {
    host: "127.0.0.1",
    port: running.port,
    connections,
    warmupSeconds: spans.warmup,
    seconds: spans.measured,
    watched: running.watched,
    request: options.request ?? enterRequest(bench.setup.fixture)
  }
  const usable = bench.arguments.unseenTokens ? spans.tokens : await showTokens(bench, running, spans)
  const job: Job =
    perSecond === undefined
      ? closedLoop({ ...common, tokens: bench.tokens.range(usable) })
      : {
          ...common,
          mode: "open",
          perSecond,
          seed: 1,
          tokens: bench.tokens.range(Math.ceil(perSecond * (spans.warmup + spans.measured) * 1.05) + 1000)
        }
  const outcome = await bench.generator.run(job)
  const acknowledged = options.waiting + (outcome.statuses["200"] ?? 0)
  // A program may write some of its rows later. That work belongs to the entries.
  const before = readProcessorSeconds(running.watched)
  const kept = await running.countEntries()
  const after = readProcessorSeconds(running.watched)
  if (kept !== undefined) {
    if (kept < acknowledged || kept > acknowledged + outcome.unanswered) {
      throw new Error(`${acknowledged} entries are acknowledged and ${kept} are in the store`)
    }
    checkPositions(outcome.samples, options.waiting, kept)
  }
  const processorSeconds = Object.fromEntries(
    Object.entries(outcome.processorSeconds).map(([name, seconds]) => [
      name,
      seconds + (after[name] ?? 0) - (before[name] ?? 0)
    ])
  )
  return { ...outcome, processorSeconds }
}

/**
 * Sends one status request for each consumer after the first `from`, for at most four times the length of the run: the
 * first request with a token costs more than an entry with a known one. Returns the number of consumers covered.
 */
export async function showTokens(bench: Bench, running: Running, spans: Bench["spans"], from = 0): Promise<number> {
  const outcome = await bench.generator.run(
    closedLoop({
      port: running.port,
      connections: 256,
      seconds: (spans.warmup + spans.measured) * 4,
      request: statusRequest(bench.setup.fixture),
      tokens: bench.tokens.range(spans.tokens, from)
    })
  )
  return outcome.statuses["200"] ?? 0
}

/**
 * Returns the figures of a run: rate, latency, memory and processor time per request. Processor time is given for the
 * program with its store (`processor…`) and for each process alone.
 */
export function describe(outcome: Outcome, running: Running, request: string): Measured {
  const resident = readResidentBytes(running.processId)
  const per = `MicrosecondsPer${capital(request)}`
  const spent = Object.entries(outcome.processorSeconds).map(([name, seconds]): [string, number] => [
    `${name}${per}`,
    (seconds / outcome.requests) * 1e6
  ])
  const ofProgram = spent.filter(([name]) => !name.startsWith("generator"))
  const processor: ReadonlyArray<[string, number]> =
    ofProgram.length === 0
      ? spent
      : [[`processor${per}`, ofProgram.reduce((sum, [, value]) => sum + value, 0)], ...spent]
  return {
    [`${plural(request)}PerSecond`]: outcome.perSecond,
    latencyP50Milliseconds: outcome.latency.p50 / 1000,
    latencyP99Milliseconds: outcome.latency.p99 / 1000,
    latencyP999Milliseconds: outcome.latency.p999 / 1000,
    ...Object.fromEntries(processor),
    ...(resident === undefined ? {} : { serverResidentMegabytes: resident / 2 ** 20 })
  }
}

function checkPositions(samples: ReadonlyArray<string>, waiting: number, kept: number): void {
  for (const sample of samples) {
    const place = JSON.parse(sample) as { readonly status?: string; readonly position?: number }
    const { position } = place
    if (place.status !== "QUEUED" || position === undefined || position <= waiting || position > kept) {
      throw new Error(`The position of an entry must be between ${waiting + 1} and ${kept}: ${sample}`)
    }
  }
}

function plural(request: string): string {
  return request.endsWith("y") ? `${request.slice(0, -1)}ies` : `${request}s`
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}
