/**
 * Rounds of the public randomness beacon, fetched from relays over HTTP. A relay is trusted with nothing: whatever it
 * answers is checked against the network's public key, so that it can at worst be of no use.
 */
import { type Cause, Context, Data, Effect, Layer, Result, Schedule, Schema } from "effect"
import { HttpClient, type HttpClientError, HttpClientResponse } from "effect/http"
import { Worker } from "node:worker_threads"
import { Settings } from "../settings/Settings.ts"
import { chainHash, type Round } from "./Network.ts"

/** A relay may take so long, connecting included. */
const relayMillis = 4_000

/** An answer has about 200 bytes. */
const answerBytesMax = 4_096

/** All relays are asked again after 0.5, 1 and 2 seconds: the network may be a moment late. */
const retries = Schedule.max([Schedule.exponential("500 millis"), Schedule.recurs(3)])

/** No relay gave the round. */
export class BeaconUnavailable extends Data.TaggedError("BeaconUnavailable")<{
  readonly round: number
  /** Each relay with what became of it. */
  readonly reasons: ReadonlyArray<string>
}> {}

export class Beacon extends Context.Service<
  Beacon,
  {
    /** The round, its signature checked. Tries every relay several times, for a minute or so at most. */
    readonly round: (round: number) => Effect.Effect<Round, BeaconUnavailable>
  }
>()("usher/beacon/Beacon") {
  static readonly layer = Layer.effect(
    Beacon,
    Effect.suspend(() => make)
  )
}

/** Loaded when a round is asked for: most processes never do. */
const layerHttpClient = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("@effect/platform-node/NodeHttpClient")),
    ({ layerUndiciOptions }) => layerUndiciOptions({ maxResponseSize: answerBytesMax })
  )
)

const Answer = Schema.Struct({ round: Schema.Int, randomness: Schema.String, signature: Schema.String })

const make = Effect.gen(function* () {
  const { drandUrls } = yield* Settings

  /** Fails with why the relay was of no use. */
  const ask = (relay: string, round: number): Effect.Effect<Round, string, HttpClient.HttpClient> =>
    HttpClient.get(`${relay}/${chainHash}/public/${round}`).pipe(
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer)),
      Effect.timeout(relayMillis),
      Effect.mapError(reasonOf),
      Effect.filterOrFail(
        (answer) => answer.round === round,
        (answer) => `gave round ${answer.round}`
      ),
      Effect.tap((answer) =>
        Effect.filterOrFail(
          verified(answer),
          (isGenuine) => isGenuine,
          () => "gave what the network has not signed"
        )
      )
    )

  /** The place of the relay that was of use last. */
  let first = 0

  const askEach = Effect.fnUntraced(function* (round: number) {
    const reasons: Array<string> = []
    for (let turn = 0; turn < drandUrls.length; turn++) {
      const place = (first + turn) % drandUrls.length
      const relay = drandUrls[place]!
      const answer = yield* Effect.result(ask(relay, round))
      if (Result.isSuccess(answer)) {
        first = place
        return answer.success
      }
      reasons.push(`${relay}: ${answer.failure}`)
    }
    return yield* new BeaconUnavailable({ round, reasons })
  })

  return Beacon.of({ round: (round) => Effect.provide(Effect.retry(askEach(round), retries), layerHttpClient) })
})

/** What went wrong, without what a stranger wrote. */
const reasonOf = (error: HttpClientError.HttpClientError | Schema.SchemaError | Cause.TimeoutError): string => {
  if (error._tag !== "HttpClientError") return error._tag
  return error.response === undefined ? error.reason._tag : `${error.reason._tag}, HTTP ${error.response.status}`
}

/** `verifyBeacon` on a thread of its own: it would hold up everyone else for tens of milliseconds. */
const verified = (round: Round): Effect.Effect<boolean, string> =>
  Effect.callback((resume) => {
    const worker = new Worker(new URL("./QuicknetWorker.ts", import.meta.url), { workerData: round })
    worker.once("message", (isGenuine: boolean) => resume(Effect.succeed(isGenuine)))
    worker.once("error", (cause) => resume(Effect.fail(`could not be checked: ${String(cause)}`)))
    return Effect.promise(() => worker.terminate())
  })
