/**
 * A response that counts itself when its head is written, on whichever path that happens, and ends its request's span.
 * The paths only note which operation it answers. So the direct path and HttpApi share one count, and a live stream
 * counts when it opens.
 */
import { type Clock, Context, Effect, type Tracer } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import { type IncomingMessage, ServerResponse } from "node:http"
import { performance } from "node:perf_hooks"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { ApiMeasures, RouteMeasures } from "../../measures/HttpMeasures.ts"
import { endSpan } from "../../measures/Traces.ts"

/** The ends of responses that this turn of the event loop has asked for, in order. */
let ends: Array<() => void> = []

/** So many leave together at most. Clients of the first then already work while the turn goes on. */
const endsMax = 64

function runEnds(): void {
  const due = ends
  ends = []
  for (const end of due) end()
}

/** Returns when the responses that have ended so far are written. */
export const answersWritten: Effect.Effect<void> = Effect.callback((resume) => {
  setImmediate(() => resume(Effect.void))
})

/**
 * A response whose headers and body go to the socket in one write, at the end of the turn of the event loop.
 *
 * Node writes headers and body together only where `strictContentLength` is off, and Effect's server switches it on for
 * each response. The answers of both APIs are complete texts whose length Effect has counted, so that check finds
 * nothing here. The second write cost a third of a request's processor time.
 *
 * A write wakes its client at once, on another core, which sends its next request alone. Answers that leave together
 * make the next requests arrive together: one turn, one poll and one wake-up then serve many.
 */
export class OneWriteResponse extends ServerResponse {
  /** True from the call of `end` on, also before its write. */
  isEnding = false

  // Node declares three signatures.
  override end(...last: ReadonlyArray<unknown>): this {
    if (this.isEnding) return this
    this.isEnding = true
    const count = ends.push(() => super.end(...(last as [])))
    if (count === 1) setImmediate(runEnds)
    if (count === endsMax) runEnds()
    return this
  }
}

Object.defineProperties(OneWriteResponse.prototype, {
  strictContentLength: { get: () => false, set: () => {} },
  writableEnded: {
    get(this: OneWriteResponse) {
      return this.isEnding
    }
  }
})

class MeasuredResponse extends OneWriteResponse {
  private readonly startedAt = performance.now()
  private readonly measures: ApiMeasures
  private isOpen = true
  route: RouteMeasures
  /** Absent unless the request is sampled. */
  traced: { readonly span: Tracer.Span; readonly clock: Clock.Clock } | undefined

  constructor(message: IncomingMessage, options: unknown, measures: ApiMeasures) {
    // Node hands its own options over, which its types do not mention.
    super(...([message, options] as unknown as [never]))
    this.measures = measures
    this.route = measures.unrouted
    measures.inFlight++
  }

  // Node declares two signatures. Both have the status first, and pass through.
  override writeHead(status: number, ...rest: ReadonlyArray<unknown>): this {
    if (this.isOpen) {
      this.route.answered(status, (performance.now() - this.startedAt) / 1_000)
      this.leave(status)
    }
    return super.writeHead(status, ...(rest as []))
  }

  override emit(event: string | symbol, ...rest: ReadonlyArray<unknown>): boolean {
    // The client disconnected before it got an answer.
    if (event === "close" && this.isOpen) this.leave()
    return super.emit(event as "close", ...(rest as []))
  }

  private leave(status?: number): void {
    this.isOpen = false
    this.measures.inFlight--
    if (this.traced !== undefined) this.endSpan(this.traced, status)
  }

  private endSpan({ span, clock }: NonNullable<MeasuredResponse["traced"]>, status: number | undefined): void {
    const { method, route } = this.route
    if (route !== this.measures.unrouted.route) {
      // The route is known only now. The exporter reads the name when the span has ended.
      Object.assign(span, { name: `${method} ${route}` })
      span.attribute("http.route", route)
    }
    if (status === undefined) return endSpan(span, clock, "ClientAbort")
    span.attribute("http.response.status_code", status)
    endSpan(span, clock, status >= serverErrors ? String(status) : undefined)
  }
}

/** The first status that counts as a failure of the server. */
const serverErrors = 500

/** Returns the class of the responses of one API. */
export const responseOf = (measures: ApiMeasures): typeof ServerResponse =>
  class extends MeasuredResponse {
    constructor(message: IncomingMessage, options: unknown) {
      super(message, options, measures)
    }
  } as unknown as typeof ServerResponse

/** Notes which operation the response answers. */
export function noteOperation(response: unknown, operation: RouteMeasures): void {
  if (response instanceof MeasuredResponse) response.route = operation
}

/** Keeps the span of a sampled request with its response, which ends it. */
export function keepSpan(response: unknown, span: Tracer.Span, clock: Clock.Clock): void {
  if (response instanceof MeasuredResponse) response.traced = { span, clock }
}

/** Returns the span of the request; undefined unless it is sampled. */
export const spanOf = (response: unknown): Tracer.Span | undefined =>
  response instanceof MeasuredResponse ? response.traced?.span : undefined

/** Creates the function that notes the route which HttpApi has found, from the context that the router has left. */
export const makeNoteRoute = (measures: ApiMeasures) => {
  const known = new WeakMap<object, RouteMeasures>()
  return (request: HttpServerRequest.HttpServerRequest, context: Context.Context<never>): void => {
    const found = Context.getOrUndefined(context as Context.Context<HttpRouter.RouteContext>, HttpRouter.RouteContext)
    // The direct path lets HttpApi encode some of its answers, outside of the router. It has noted their operation.
    if (found === undefined || found.route.path === "*") return
    let operation = known.get(found.route)
    if (operation === undefined) {
      operation = measures.route(found.route.method, found.route.path)
      known.set(found.route, operation)
    }
    noteOperation(NodeHttpServerRequest.toServerResponse(request), operation)
  }
}
