/** The servers' own measures during the load, read from their operations ports once a second. */
import { Clock, Effect, type Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { StartRefused } from "../settings/Settings.ts"

/** The servers at one instant, together. */
export const ServerReading = Schema.Struct({
  /** Seconds after the first reading. */
  second: Schema.Finite,
  /** Processor seconds a second since the reading before. */
  cores: Schema.Finite,
  /** The longest delay of an event loop since the reading before, in milliseconds. */
  eventLoopMillis: Schema.Finite,
  /** Memory of the processes, in megabytes. */
  residentMegabytes: Schema.Finite,
  /** Events that wait for the journal. */
  waitingEvents: Schema.Finite
})
export type ServerReading = typeof ServerReading.Type

/** The sums of the series that a reading needs. */
export interface Sums {
  readonly processorSeconds: number
  readonly eventLoopSeconds: number
  readonly residentBytes: number
  readonly waitingEvents: number
}

/** Returns the sums over the texts of all servers; of the event loops the longest delay. */
export function sumsOf(texts: ReadonlyArray<string>): Sums {
  const values = (name: string, labels = "") =>
    texts.flatMap((text) =>
      text
        .split("\n")
        .filter((line) => line.startsWith(`${name}${labels} `) || (labels === "" && line.startsWith(`${name}{`)))
        .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)))
    )
  const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, value) => total + value, 0)
  return {
    processorSeconds: sum(values("usher_processor_seconds_total")),
    eventLoopSeconds: Math.max(0, ...values("usher_event_loop_delay_seconds", '{statistic="max"}')),
    residentBytes: sum(values("usher_resident_memory_bytes")),
    waitingEvents: sum(values("usher_journal_waiting_events"))
  }
}

const withToken = (url: string, token: Redacted.Redacted) =>
  HttpClientRequest.bearerToken(HttpClientRequest.get(url), token)

/**
 * Reads the servers once a second until the scope closes. Returns the function that returns the readings so far. It fails
 * if a server cannot be read at the start; later a reading that fails is left out.
 */
export const watch = Effect.fnUntraced(function* (urls: ReadonlyArray<string>, token?: Redacted.Redacted) {
  const http = yield* HttpClient.HttpClient
  const readings: Array<ServerReading> = []
  if (urls.length === 0) return () => readings
  const textOf = (url: string) =>
    http.execute(token === undefined ? HttpClientRequest.get(url) : withToken(url, token)).pipe(
      Effect.flatMap((response) =>
        response.status === 200 ? response.text : Effect.fail(new Error(`it answered ${response.status}`))
      ),
      Effect.timeout("5 seconds"),
      Effect.mapError(({ message }) => new StartRefused({ message: `${url} could not be read: ${message}` }))
    )
  const sums = Effect.map(Effect.forEach(urls, textOf, { concurrency: "unbounded" }), sumsOf)
  const secondsNow = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000n) / 1e6)

  const startedAt = yield* secondsNow
  let before = { ...(yield* sums), at: startedAt }
  const read = Effect.gen(function* () {
    const now = { ...(yield* sums), at: yield* secondsNow }
    readings.push({
      second: now.at - startedAt,
      cores: Math.max(0, (now.processorSeconds - before.processorSeconds) / (now.at - before.at)),
      eventLoopMillis: now.eventLoopSeconds * 1_000,
      residentMegabytes: now.residentBytes / 2 ** 20,
      waitingEvents: now.waitingEvents
    })
    before = now
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("1 second"), Effect.ignore(read))))
  return () => readings
})
