/**
 * The jobs and outcomes of the load generator. The generator is a separate process; these values travel over its IPC
 * channel.
 */

/** A request around the bearer token: `head + token + tail`. */
export interface RequestTemplate {
  /** From the request line up to and including `Bearer `. */
  readonly head: string
  /** The text after the token. Each request replaces `{number}` with a number of nine digits, which rises with the token. */
  readonly tail: string
}

/** Requests with several heads, taken in turns. */
export interface RequestTemplates {
  readonly heads: ReadonlyArray<string>
  readonly tail: string
}

/** Part of a file with one token per line. */
export interface TokenRange {
  readonly file: string
  readonly from: number
  readonly count: number
}

/** A process whose processor time is read around the measured span. */
export interface Watched {
  readonly name: string
  readonly processId: number
  /** Whether to add its direct children, including those that ended: a Postgres server and its backends. */
  readonly withChildren: boolean
}

/** The time of a thread, in seconds: on a processor, and ready to run while others had the processors. */
export interface ThreadSeconds {
  readonly running: number
  readonly waiting: number
}

interface Common {
  readonly host: string
  readonly port: number
  /** Whether the server expects TLS. Its certificate is not checked. Default: false. */
  readonly tls?: boolean
  readonly connections: number
  /** Further connections that are rarely used. Default: 0. */
  readonly idleConnections?: number
  /** Seconds of load before the measured span, to warm up compilers and pools. */
  readonly warmupSeconds: number
  /** The measured span, in seconds. */
  readonly seconds: number
  /** The most seconds to wait for the last responses after the end. Default: 10 */
  readonly drainSecondsMax?: number
  readonly watched: ReadonlyArray<Watched>
}

/**
 * Each connection sends its next request when the previous response is complete. This finds the capacity and hides
 * queueing.
 */
export interface ClosedLoopJob extends Common {
  readonly mode: "closed"
  readonly request: RequestTemplate | RequestTemplates
  readonly tokens: TokenRange
  /** Starts over when the tokens are used up (polling); otherwise the run ends there. */
  readonly repeatTokens: boolean
  /**
   * The request that shows each token once before the run, for so many seconds at most. A connection then uses the tokens
   * that it has shown, and the run ends when one of them has none left. Not together with `repeatTokens`.
   */
  readonly shownFirst?: { readonly request: RequestTemplate; readonly seconds: number }
}

/** Requests start at a fixed rate that responses do not affect. Latency counts from the intended start. */
export interface OpenLoopJob extends Common {
  readonly mode: "open"
  readonly request: RequestTemplate | RequestTemplates
  readonly tokens: TokenRange
  readonly perSecond: number
  readonly seed: number
}

/** Each connection serves one new consumer after another: session, entry, status. Closed loop. */
export interface ArrivalsJob extends Common {
  readonly mode: "arrivals"
  /** The complete request that returns `accessToken`. */
  readonly session: string
  readonly enter: RequestTemplate
  readonly status: RequestTemplate
}

/** Each connection is the stream of one waiting consumer. All streams receive events as the line moves. */
export interface StreamsJob extends Common {
  readonly mode: "streams"
  /** `GET …/events` */
  readonly request: RequestTemplate
  /** The tokens of the waiting consumers. */
  readonly tokens: TokenRange
  /** The request that removes a consumer from the line. */
  readonly move: RequestTemplate
  /** The tokens of the consumers who leave. They are ahead of all waiting ones. */
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

/** The result of a job. Counts and latencies cover the measured span unless stated otherwise. */
export interface Outcome {
  readonly requests: number
  readonly seconds: number
  readonly perSecond: number
  readonly latency: Latency
  /** The latency of each step of an arrival, in sequence; empty for other modes. */
  readonly steps: ReadonlyArray<Latency>
  /** The number of responses with each status, from the first request to the last, warm-up included. */
  readonly statuses: { readonly [status: string]: number }
  /** Connections that failed, or that the server closed before their response. */
  readonly connectionErrors: number
  /** Requests without a response within the drain time. */
  readonly unanswered: number
  /** Open loop: requests that were due but could not start before the end of the run. */
  readonly unsent: number
  /** Open loop: the largest delay of the generator's own timer, in microseconds. A large delay invalidates the run. */
  readonly timerLagMax: number
  /** Processor time in the measured span, in seconds, by name; `generator` is the generator itself. */
  readonly processorSeconds: { readonly [name: string]: number }
  /** The main thread of the first watched process in the measured span; absent where the system does not tell. */
  readonly mainThread?: ThreadSeconds
  /** Some bodies, for checks of the responses. */
  readonly samples: ReadonlyArray<string>
}
