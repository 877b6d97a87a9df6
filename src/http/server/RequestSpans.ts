/**
 * The span of a sampled request, on the direct path and on HttpApi. A `traceparent` of a trusted proxy decides, and is
 * the parent. Other callers cannot cause spans: for them `TRACE_SAMPLE` decides.
 */
import { Effect, Option, Random, type Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"
import type { IncomingMessage } from "node:http"
import { startSpan, Traces } from "../../measures/Traces.ts"
import { Settings } from "../../settings/Settings.ts"
import type { Api } from "../limits/Limit.ts"
import { keepSpan } from "./MeasuredResponse.ts"
import { isTrustedBy, plain } from "./Origins.ts"
import * as Time from "../../store/coordination/Time.ts"

/**
 * Requests of one second that are sampled at most, because a proxy may sample all. It bounds the spans in memory while
 * the collector does not answer.
 */
const requestsPerSecondMax = 200

/** Makes the function that starts the span of a request, if the request is sampled; undefined if nothing is exported. */
export const make = Effect.fnUntraced(function* (api: Api) {
  const tracing = yield* Traces
  if (tracing === undefined) return undefined
  const clock = yield* Time.serverClock
  const random = yield* Random.Random
  const isTrusted = isTrustedBy((yield* Settings).trustedProxies)
  let second = 0
  let sampled = 0

  const isWithinBound = (): boolean => {
    const now = Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
    if (now !== second) {
      second = now
      sampled = 0
    }
    return ++sampled <= requestsPerSecondMax
  }

  return (message: IncomingMessage, response: unknown): void => {
    const parent = parentOf(message, isTrusted)
    const isSampled = parent === undefined ? random.nextDoubleUnsafe() < tracing.sample : parent.sampled
    if (!isSampled || !isWithinBound()) return
    const method = message.method ?? ""
    const span = startSpan(tracing, clock, method, {
      kind: "server",
      parent,
      attributes: { "http.request.method": method, "usher.api": api }
    })
    keepSpan(response, span, clock)
  }
})

/** The caller's span, if a trusted proxy names it. */
function parentOf(
  { headers, socket }: IncomingMessage,
  isTrusted: (address: string) => boolean
): Tracer.ExternalSpan | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== "string" || !isTrusted(plain(socket.remoteAddress ?? ""))) return undefined
  return Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromInput({ traceparent })))
}
