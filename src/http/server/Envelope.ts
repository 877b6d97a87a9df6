/**
 * The parts of every response of a listener: the request's id, the API's version and the caller's limit status. The
 * body is JSON also if no operation was reached (404, 405, 413, 415, 500, 503), and browsers may read responses of the
 * Consumer API. A request over plain HTTP through an open network gets a 403, except for `/health` and `/ready`.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { type Cause, Context, Effect, Exit, LogLevel, References, type Types } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Api } from "../limits/Limit.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import { Measures } from "../../measures/Measures.ts"
import { CurrentSpan } from "../../measures/Traces.ts"
import { ignoredFieldsOf } from "../fields/IgnoredFields.ts"
import { makeNoteRoute, spanOf } from "./MeasuredResponse.ts"
import * as FailedRequests from "../errors/FailedRequests.ts"
import { Methods } from "./Methods.ts"
import { Origins } from "./Origins.ts"
import { makeHeaders, requestIdOf, type ResponseHeaders } from "./ResponseHeaders.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as SmallBodies from "./FastBodyReader.ts"
import { annotated } from "../../measures/StateChange.ts"

const preflight = HttpServerResponse.empty({
  status: 204,
  headers: {
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers":
      "Authorization, Content-Type, X-Publishable-Key, X-Consumer-Id, X-Request-Id, Idempotency-Key, Last-Event-ID, X-Challenge-Solution",
    "access-control-max-age": "86400"
  }
})

const json = (status: number, error: string, headers?: { readonly [name: string]: string }) =>
  HttpServerResponse.jsonUnsafe({ error }, { status, ...(headers && { headers }) })

const httpsRequired = json(403, "HTTPS required")
const notFound = json(404, "Not found")
const payloadTooLarge = json(413, "Request body is larger than 1 MiB", { connection: "close" })
const unsupportedMediaType = json(415, "Content-Type must be application/json")
const unreadable = json(400, "Request could not be read", { connection: "close" })
const internalError = json(500, "Internal server error")
const unavailable = json(503, "Service unavailable", { "retry-after": "1" })

/** Seconds after which a caller may try a write again while the database is on hold. */
const holdSeconds = 30
const onHold = HttpServerResponse.jsonUnsafe(
  { error: "Service unavailable", code: "ON_HOLD" },
  { status: 503, headers: { "retry-after": `${holdSeconds}` } }
)

/** Puts the envelope around every response of one API's listener. */
export const layer = (api: Api) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.addGlobalMiddleware(yield* make(api))
    })
  )

/** Makes the function that answers with the response of an effect, or with its failure, in its envelope. */
export const make = Effect.fnUntraced(function* (api: Api) {
  const origins = yield* Origins
  const logsAccess = yield* accessIsLogged
  const isHeld = (yield* Installation).heldAt !== undefined
  const isCrossOrigin = api === "consumer"
  const { http } = yield* Measures
  const noteRoute = makeNoteRoute(http[api])
  const readiness = yield* Readiness
  const { sealed, answer } = yield* makeAnswer(api)
  return (handle: Handle): Handle =>
    Effect.withFiber((fiber): Handle => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      SmallBodies.installFastBodyReader(request, api)
      const requestId = requestIdOf(request.headers["x-request-id"])
      if (!origins.of(request).isSafe && !isProbe(request))
        return Exit.succeed(sealed(request, httpsRequired, requestId))
      if (isCrossOrigin && isPreflight(request)) return Exit.succeed(sealed(request, preflight, requestId))
      const span = spanOf(NodeHttpServerRequest.toServerResponse(request))
      // Not `provideService`: it would restore the context, in which the router leaves the route.
      if (span !== undefined) fiber.setContext(Context.add(fiber.context, CurrentSpan, span))
      // Pages refuse with a page.
      if (readiness.isRefusing() && isUnderApi(request)) return Exit.succeed(sealed(request, unavailable, requestId))
      if (isHeld && !isRead(request)) return Exit.succeed(sealed(request, onHold, requestId))
      const answered = answer(request, requestId, handle, () => noteRoute(request, fiber.context))
      return logsAccess ? Effect.tap(answered, (response) => logAccess(request, requestId, response)) : answered
    })
})

/** At this level each answer has a line. */
const accessIsLogged = Effect.map(References.MinimumLogLevel, (level) => LogLevel.isLessThanOrEqualTo(level, "Debug"))

const makeAnswer = Effect.fnUntraced(function* (api: Api) {
  const methods = yield* Methods
  const readiness = yield* Readiness
  const origins = yield* Origins
  const limited = (yield* RateLimit.limitStatus)(api)
  const addHeaders = makeHeaders(api)
  const logFailed = yield* FailedRequests.make
  const logsAccess = yield* accessIsLogged

  const sealed = (request: Request, handled: Response, requestId: string): Response => {
    const { limit, response } = limited(request, handled)
    const headers: ResponseHeaders = {}
    const isCacheable = response.headers["cache-control"] !== undefined || !isUnderApi(request)
    addHeaders(headers, { requestId, limit, isEncrypted: origins.of(request).isEncrypted, isCacheable })
    const ignored = ignoredFieldsOf(request)
    if (ignored !== undefined) headers["x-ignored-fields"] = ignored
    if (readiness.isDraining()) headers["connection"] = "close"
    if (response.status === 401) headers["www-authenticate"] = "Bearer"
    // The decoder of bodies answers 415 as plain text.
    const isPlain = response.status === 415 && response.headers["content-type"]?.startsWith("text/plain") === true
    return HttpServerResponse.setHeaders(isPlain ? unsupportedMediaType : response, headers)
  }

  const unrouted = (request: Request): Response => {
    const allowed = methods.allowed(request.url)
    return allowed.length === 0 ? notFound : json(405, "Method not allowed", { allow: allowed.join(", ") })
  }

  const answer = (request: Request, requestId: string, handle: Handle, onHandled: () => void): Handle =>
    Effect.matchCauseEffect(handle, {
      onSuccess: (response) => {
        onHandled()
        const answered = Exit.succeed(sealed(request, response, requestId))
        return response.status < 500 || logsAccess
          ? answered
          : Effect.andThen(logFailed(response.status, describe(request, requestId)), answered)
      },
      onFailure: (cause) => {
        onHandled()
        const failure = classify(cause)
        switch (failure._tag) {
          case "Response":
            return Exit.succeed(sealed(request, failure.response, requestId))
          case "Unrouted":
            return Exit.succeed(sealed(request, unrouted(request), requestId))
          case "Aborted":
            return Exit.failCause(cause)
          case "Defect":
            return Effect.as(logDefect(request, requestId, cause), sealed(request, internalError, requestId))
        }
      }
    })

  return { sealed, answer }
})

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
/** A response, or another outcome of a request. */
export type Handle = Effect.Effect<Response, Types.unhandled>

/** Answers of the APIs hold tokens and grants, so no cache may keep them unless an operation says so itself. */
function isUnderApi({ url }: Request): boolean {
  return url.startsWith("/api")
}

/** Load balancers ask these over plain HTTP from anywhere. They take no credentials. */
function isProbe({ url }: Request): boolean {
  return /^\/(?:health|ready)(?:\?|$)/.test(url)
}

/** Operations with these methods change nothing. */
function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS"
}

function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined
}

type Failure =
  | { readonly _tag: "Response"; readonly response: Response }
  | { readonly _tag: "Unrouted" | "Aborted" | "Defect" }

/** The response to a request that no operation answered. */
function classify(cause: Cause.Cause<unknown>): Failure {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") {
      // The caller has disconnected, or the request took longer than a shutdown allows.
      if (reason.annotations.has(HttpServerError.ClientAbort.key)) return { _tag: "Aborted" }
      return { _tag: "Response", response: unavailable }
    }
    const error = reason._tag === "Fail" ? reason.error : reason.defect
    if (HttpServerResponse.isHttpServerResponse(error)) return { _tag: "Response", response: error }
    if (HttpServerError.isHttpServerError(error)) {
      if (error.reason._tag === "RouteNotFound") return { _tag: "Unrouted" }
      if (error.reason._tag === "RequestParseError") {
        const isTooLarge = error.reason.reason === "BodyTooLarge"
        return { _tag: "Response", response: isTooLarge ? payloadTooLarge : unreadable }
      }
    }
  }
  return { _tag: "Defect" }
}

const logDefect = (request: Request, requestId: string, cause: Cause.Cause<unknown>) =>
  Effect.logError("A request failed", cause).pipe(annotated("request.failed", describe(request, requestId)))

const logAccess = (request: Request, requestId: string, { status }: Response) =>
  Effect.logDebug(`${status}`).pipe(Effect.annotateLogs(describe(request, requestId)))

/** The URL without its query, which may hold private data, and the trace of a sampled request. */
const describe = (request: Request, requestId: string) => {
  const span = spanOf(NodeHttpServerRequest.toServerResponse(request))
  return {
    requestId,
    request: `${request.method} ${request.url.split("?", 1)[0]}`,
    ...(span !== undefined && { trace: span.traceId })
  }
}
