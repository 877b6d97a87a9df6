/**
 * Fetches rounds of the public randomness beacon from relays over HTTP. Relays are not trusted: each response is
 * verified with the network's public key. A faulty relay can only cause a failure.
 */
import { type Cause, Context, Data, Effect, Layer, Result, Schedule, Schema } from "effect"
import { HttpClient, type HttpClientError, HttpClientResponse } from "effect/http"
import { Worker } from "node:worker_threads"
import { Settings } from "../settings/Settings.ts"
import { chainHash, type Round } from "./Network.ts"

/** Time limit for one relay, including the connection. */
const relayMillis = 4_000

/** Limit for a response; a valid one has about 200 bytes. */
const answerBytesMax = 4_096

/** Retries all relays after 0.5, 1 and 2 seconds, because the network may publish a round slightly late. */
const retries = Schedule.max([Schedule.exponential("500 millis"), Schedule.recurs(3)])

/** No relay returned the round. */
export class BeaconUnavailable extends Data.TaggedError("BeaconUnavailable")<{
  readonly round: number
  /** Each relay with the reason of its failure. */
  readonly reasons: ReadonlyArray<string>
}> {}

export class Beacon extends Context.Service<
  Beacon,
  {
    /** Returns the verified round. Tries every relay several times, for about a minute at most. */
    readonly round: (round: number) => Effect.Effect<Round, BeaconUnavailable>
  }
>()("usher/beacon/Beacon") {
  static readonly layer = Layer.effect(
    Beacon,
    Effect.suspend(() => make)
  )
}

/** Loaded on the first request for a round; most processes never request one. */
const layerHttpClient = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("@effect/platform-node/NodeHttpClient")),
    ({ layerUndiciOptions }) => layerUndiciOptions({ maxResponseSize: answerBytesMax })
  )
)

const Body = Schema.Struct({ round: Schema.Int, randomness: Schema.String, signature: Schema.String })

const make = Effect.gen(function* () {
  const { drandUrls } = yield* Settings

  /** Fetches and verifies a round from one relay. Fails with the reason. */
  const fetchFrom = (relay: string, round: number): Effect.Effect<Round, string, HttpClient.HttpClient> =>
    HttpClient.get(`${relay}/${chainHash}/public/${round}`).pipe(
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Body)),
      Effect.timeout(relayMillis),
      Effect.mapError(reasonOf),
      Effect.filterOrFail(
        (body) => body.round === round,
        (body) => `returned round ${body.round}`
      ),
      Effect.tap((body) =>
        Effect.filterOrFail(
          verified(body),
          (isGenuine) => isGenuine,
          () => "returned an invalid signature"
        )
      )
    )

  /** Index of the relay that last returned a round. */
  let first = 0

  const fetchFromAny = Effect.fnUntraced(function* (round: number) {
    const reasons: Array<string> = []
    for (let attempt = 0; attempt < drandUrls.length; attempt++) {
      const index = (first + attempt) % drandUrls.length
      const relay = drandUrls[index]!
      const result = yield* Effect.result(fetchFrom(relay, round))
      if (Result.isSuccess(result)) {
        first = index
        return result.success
      }
      reasons.push(`${relay}: ${result.failure}`)
    }
    return yield* new BeaconUnavailable({ round, reasons })
  })

  return Beacon.of({ round: (round) => Effect.provide(Effect.retry(fetchFromAny(round), retries), layerHttpClient) })
})

/** Describes the failure without any text from the relay. */
const reasonOf = (error: HttpClientError.HttpClientError | Schema.SchemaError | Cause.TimeoutError): string => {
  if (error._tag !== "HttpClientError") return error._tag
  return error.response === undefined ? error.reason._tag : `${error.reason._tag}, HTTP ${error.response.status}`
}

/** Runs `verifyBeacon` on its own thread. On the main thread it would block all other work for tens of milliseconds. */
const verified = (round: Round): Effect.Effect<boolean, string> =>
  Effect.callback((resume) => {
    const worker = new Worker(new URL("./QuicknetWorker.ts", import.meta.url), { workerData: round })
    worker.once("message", (isGenuine: boolean) => resume(Effect.succeed(isGenuine)))
    worker.once("error", (cause) => resume(Effect.fail(`could not be checked: ${String(cause)}`)))
    return Effect.promise(() => worker.terminate())
  })
