/**
 * What the bench asks of a load generator, and what it answers. The generator is a process of its own; these travel
 * over its IPC channel.
 */

/** A request as it goes out, around the bearer token: `head + token + tail` is the whole of it. */
export interface RequestTemplate {
  /** From the request line up to and including `Bearer `. */
  readonly head: string
  /** What follows the token; `{number}` in it becomes a number of nine digits that grows with each request. */
  readonly tail: string
}

/** Requests with several heads, which are taken in turns. */
export interface RequestTemplates {
  readonly heads: ReadonlyArray<string>
  readonly tail: string
}

/** Part of a file that holds one token a line. */
export interface TokenRange {
  readonly file: string
  readonly from: number
  readonly count: number
}

/** A process whose processor time is read around the measured span. */
export interface Watched {
  readonly name: string
  readonly processId: number
  /** Its direct children count with it, those that ended meanwhile too: a Postgres server and its backends. */
  readonly withChildren: boolean
}

interface Common {
  readonly host: string
  readonly port: number
  readonly connections: number
  /** Load before the measured span, in seconds: compilers warm up, pools fill. */
  readonly warmupSeconds: number
  /** The measured span, in seconds. */
  readonly seconds: number
  /** How long the last answers may take after the end. Default: 10 */
  readonly drainSecondsMax?: number
  readonly watched: ReadonlyArray<Watched>
}

/** Each connection sends its next request when the last one was answered: finds the capacity, hides queueing. */
export interface ClosedLoopJob extends Common {
  readonly mode: "closed"
  readonly request: RequestTemplate | RequestTemplates
  readonly tokens: TokenRange
  /** Start over when the tokens are used up (polling); otherwise the run ends there. */
  readonly repeatTokens: boolean
}

/** Requests start at a set rate whatever the answers do; latency counts from the intended start. */
export interface OpenLoopJob extends Common {
  readonly mode: "open"
  readonly request: RequestTemplate | RequestTemplates
  readonly tokens: TokenRange
  readonly perSecond: number
  readonly seed: number
}

/** Each connection is one new consumer after the other: session, entry, status; closed loop. */
export interface ArrivalsJob extends Common {
  readonly mode: "arrivals"
  /** The whole request that answers `accessToken`. */
  readonly session: string
  readonly enter: RequestTemplate
  readonly status: RequestTemplate
}

/** Each connection is a stream of one consumer that waits, all of them told how the line moves. */
export interface StreamsJob extends Common {
  readonly mode: "streams"
  /** `GET …/events` */
  readonly request: RequestTemplate
  /** Of those who wait. */
  readonly tokens: TokenRange
  /** What takes a consumer out of the line. */
  readonly move: RequestTemplate
  /** Of those who are ahead of all who wait, and leave. */
  readonly movers: TokenRange
  readonly movesPerSecond: number
  readonly seed: number
}

export type Job = ClosedLoopJob | OpenLoopJob | ArrivalsJob | StreamsJob

/** Percentiles in microseconds. */
export interface Latency {
  readonly mean: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** What came of a job. Counts and latencies are of the measured span unless they say otherwise. */
export interface Outcome {
  readonly requests: number
  readonly seconds: number
  readonly perSecond: number
  readonly latency: Latency
  /** Of each step of an arrival, in order; empty for the other modes. */
  readonly steps: ReadonlyArray<Latency>
  /** How many answers had each status, from the first request to the last, warm-up included. */
  readonly statuses: { readonly [status: string]: number }
  /** Connections that failed or were closed by the server before their answer. */
  readonly connectionErrors: number
  /** Requests never answered within the time allowed after the end. */
  readonly unanswered: number
  /** Open loop: requests that were due but could not start before the end of the run. */
  readonly unsent: number
  /** Open loop: how late the generator's own timer ran at worst, in microseconds; a large one spoils the run. */
  readonly timerLagMax: number
  /** Processor time used in the measured span, in seconds, by name; the generator's own is `generator`. */
  readonly processorSeconds: { readonly [name: string]: number }
  /** Some bodies, for checking that the answers are what they should be. */
  readonly samples: ReadonlyArray<string>
}
