/**
 * The direct path of the Consumer API: a second interpreter of the one declaration, for requests in which everything is
 * in order. HttpApi is the first and the complete one. It answers every other request.
 *
 * At the start each operation is compiled from its endpoint, and from the handler that its group has registered. A
 * request takes these steps:
 *
 * 1. Its method and path name a compiled operation, and its path parameter is an id.
 * 2. It has no body, or a small one of JSON.
 * 3. It is safe to answer, and its credentials are in memory and valid. A token that is new here is looked up first.
 * 4. Its rate limits let it pass. This counts it, so it is the last question. After it nothing falls back.
 * 5. The handler runs. An answer that is in memory is written in the same turn of the event loop.
 *
 * Any "no" before step 4 leaves the request to HttpApi, with nothing changed. A failure of the handler is encoded by
 * HttpApi too (`Outcome.ts`).
 */
import { Context, Effect, Exit, Fiber, Layer, LogLevel, References, Scope } from "effect"
import { HttpServerError } from "effect/http"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { IncomingMessage, ServerResponse } from "node:http"
import { isUuid } from "../../domain/values/Ids.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { CurrentSpan } from "../../measures/Traces.ts"
import { Settings } from "../../settings/Settings.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import { notDecoded } from "./JsonDecoder.ts"
import { restrictOrigin } from "../credentials/AllowedOrigins.ts"
import type { KnownCaller } from "./KnownCallers.ts"
import type { LimitStatus } from "../limits/LimitStatus.ts"
import { callerOf } from "../limits/RateLimit.ts"
import { RateLimits } from "../limits/RateLimits.ts"
import { compileOperations, type Operation } from "./Operations.ts"
import { isSmall, keepText, readSmall } from "../server/FastBodyReader.ts"
import { exceededBy, publicBounds } from "../../domain/values/JsonBounds.ts"
import { noteOperation, spanOf } from "../server/MeasuredResponse.ts"
import { countedAddress, type Origin, Origins } from "../server/Origins.ts"
import { makeHeaders, requestIdOf, type ResponseHeaders } from "../server/ResponseHeaders.ts"
import * as Outcome from "./Outcome.ts"

/**
 * Compiles the direct path of an API, if the settings do not switch it off. Access logs and a database on hold need the
 * complete path.
 */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { directPath } = yield* Settings
      const logsAccess = LogLevel.isLessThanOrEqualTo(yield* References.MinimumLogLevel, "Debug")
      const { heldAt } = yield* Installation
      if (!directPath || logsAccess || heldAt !== undefined) return
      const operations = yield* compileOperations(api as unknown as HttpApi.Top)
      const services = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
      const open = Effect.map(
        makeAnswer(api as unknown as HttpApi.Top),
        (answer): Answer =>
          (message, response, otherwise) => {
            const found = find(operations, message)
            if (found === undefined) otherwise()
            else answer({ ...found, message, response, otherwise })
          }
      )
      yield* (yield* DirectPath).use(Effect.provideContext(open, services as never))
    })
  )

/** A request, the operation it names, and its path parameter. */
interface Request {
  readonly operation: Operation
  readonly id: string
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** Leaves the request to HttpApi. */
  readonly otherwise: () => void
}

interface Counted extends Request {
  readonly caller: KnownCaller
  readonly origin: Origin
  readonly limit: LimitStatus
}

/** Splits `/api/{group}/{id}/{operation}`, and finds the operation. Other paths are compared as they are. */
function find(operations: ReadonlyMap<string, Operation>, { method, url }: IncomingMessage) {
  if (url === undefined) return undefined
  const from = url.indexOf("/", "/api/".length) + 1
  const to = from === 0 ? -1 : url.indexOf("/", from)
  const id = to < 0 ? "" : url.slice(from, to)
  const path = to < 0 ? url : `${url.slice(0, from)}${url.slice(to)}`
  const operation = operations.get(`${method} ${path}`)
  return operation === undefined || (to >= 0 && !isUuid(id)) ? undefined : { operation, id: id.toLowerCase() }
}

const makeAnswer = Effect.fnUntraced(function* (api: HttpApi.Top) {
  const origins = yield* Origins
  const readiness = yield* Readiness
  const lookUpCaller = yield* makeLookUpCaller
  const run = yield* makeRun(api)

  /** Steps 2 and 3. */
  return (request: Request): void => {
    const { operation, message, otherwise } = request
    const body = bodyOf(operation, message)
    if (body === "other" || readiness.isDraining()) return otherwise()
    if (operation.headersOfHttpApi.some((name) => message.headers[name] !== undefined)) return otherwise()
    const origin = origins.ofMessage(message)
    if (!origin.isSafe) return otherwise()
    const caller = operation.findCaller(message.headers)
    if (caller === undefined) lookUpCaller(request, origin, (caller) => read(request, caller, origin, body))
    else read(request, caller, origin, body)
  }

  function read(request: Request, caller: KnownCaller, origin: Origin, body: "none" | "small"): void {
    const { operation, message } = request
    if (operation.decode === undefined) return count(request, caller, origin, undefined)
    if (body === "none") return decode(request, caller, origin, "")
    readSmall(message, (text) => decode(request, caller, origin, text))
  }

  function decode(request: Request, caller: KnownCaller, origin: Origin, text: string): void {
    const payload = exceededBy(text, publicBounds) === undefined ? request.operation.decode!(text) : notDecoded
    keepText(request.message, text)
    if (payload === notDecoded) request.otherwise()
    else count(request, caller, origin, payload)
  }

  /** Step 4. */
  function count(request: Request, caller: KnownCaller, origin: Origin, payload: unknown): void {
    const { operation, otherwise } = request
    const limit = operation.limit.pass(callerOf(caller.holder, () => countedAddress(origin.address), caller.consumerId))
    if (Effect.isEffect(limit) || limit.retryAfterSeconds !== undefined) return otherwise()
    run({ ...request, caller, origin, limit }, payload)
  }
})

/** Makes the function that looks up a token that is new here, unless its address has sent too many that were refused. */
const makeLookUpCaller = Effect.gen(function* () {
  const limits = yield* RateLimits
  const scope = yield* Effect.scope
  const services = yield* servicesOfHandlers
  return (
    { operation, message, response, otherwise }: Request,
    { address }: Origin,
    onCaller: (caller: KnownCaller) => void
  ) => {
    const lookup = operation.lookUpCaller?.(message.headers)
    if (lookup === undefined || limits.isUnknownRefused(() => countedAddress(address))) return otherwise()
    Fiber.runIn(Effect.runForkWith(services)(lookup), scope).addObserver(() => {
      if (response.destroyed) return
      const caller = operation.findCaller(message.headers)
      if (caller === undefined) otherwise()
      else onCaller(caller)
    })
  }
})

/** Makes step 5. */
const makeRun = Effect.fnUntraced(function* (api: HttpApi.Top) {
  const scope = yield* Effect.scope
  const complete = yield* Outcome.make(api)
  const write = yield* makeWrite
  const services = yield* servicesOfHandlers
  return (request: Counted, payload: unknown): void => {
    const { operation, id, message, response, caller } = request
    const { encode } = operation
    noteOperation(response, operation.measures)
    const effect = operation.handle({ id, payload, message })
    if (encode === undefined) return complete({ ...request, effect: Effect.updateContext(effect, caller.provide) })
    const finish = (exit: Exit.Exit<unknown, unknown>) => {
      if (response.destroyed) return
      const text = Exit.isSuccess(exit) ? encode(exit.value) : undefined
      if (text === undefined) complete({ ...request, effect: exit })
      else write(request, text)
    }
    const span = spanOf(response)
    const provided = caller.provide(services)
    const fiber = Effect.runForkWith(span === undefined ? provided : Context.add(provided, CurrentSpan, span))(effect)
    const exit = fiber.pollUnsafe()
    if (exit === undefined) wait(Fiber.runIn(fiber, scope), response, finish)
    else finish(exit)
  }
})

/** The context for handlers, without the scope of the listener. */
const servicesOfHandlers = Effect.map(Effect.context<Scope.Scope>(), (services): Context.Context<never> =>
  Context.omit(Scope.Scope)(services)
)

/** Makes the function that writes an answer of 200. */
const makeWrite = Effect.gen(function* () {
  const readiness = yield* Readiness
  const addHeaders = makeHeaders("consumer")
  return ({ message, response, caller, origin, limit }: Counted, text: string): void => {
    const { headers } = message
    const sent: ResponseHeaders = {
      "content-type": "application/json",
      "content-length": `${Buffer.byteLength(text)}`
    }
    const requestId = requestIdOf(headers["x-request-id"])
    addHeaders(sent, { requestId, isEncrypted: origin.isEncrypted, limit, isCacheable: false })
    if (readiness.isDraining()) sent["connection"] = "close"
    restrictOrigin(sent, headers.origin, caller.holder)
    response.writeHead(200, sent)
    response.end(text)
  }
})

/** Interrupts the handler if its caller goes. */
function wait<A, E>(fiber: Fiber.Fiber<A, E>, response: ServerResponse, done: (exit: Exit.Exit<A, E>) => void): void {
  const gone = () => fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
  response.once("close", gone)
  fiber.addObserver((exit) => {
    response.off("close", gone)
    done(exit)
  })
}

/** Whether the request has no body, a small one that its operation takes, or another one. */
function bodyOf({ decode }: Operation, { headers }: IncomingMessage): "none" | "small" | "other" {
  const { "content-length": length, "content-type": type, "transfer-encoding": coding, expect } = headers
  if (coding !== undefined || expect !== undefined) return "other"
  const isEmpty = length === undefined || length === "0"
  if (decode === undefined) return isEmpty ? "none" : "other"
  if (type !== undefined && type !== "application/json") return "other"
  return isEmpty ? "none" : isSmall(headers) ? "small" : "other"
}

/** Answers a request of the common kind. Leaves any other request to `otherwise`, and has changed nothing then. */
export type Answer = (message: IncomingMessage, response: ServerResponse, otherwise: () => void) => void

/** Opens the direct path. Requests in progress are interrupted when the scope closes. */
type Open = Effect.Effect<Answer, never, Scope.Scope>

export class DirectPath extends Context.Service<
  DirectPath,
  {
    /** Sets the direct path of the listener. */
    use(open: Open): Effect.Effect<void>
    readonly open: Open
  }
>()("usher/http/direct/DirectPath") {
  /** Without a direct path until one is set. */
  static readonly layer = Layer.sync(DirectPath, () => {
    let current: Open = Effect.succeed((_message, _response, otherwise) => otherwise())
    return {
      use: (open) => Effect.sync(() => void (current = open)),
      open: Effect.suspend(() => current)
    }
  })
}
