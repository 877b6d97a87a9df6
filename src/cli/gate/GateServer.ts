/**
 * The small server of `usher gate`: it answers the questions of a proxy from memory, and serves the return path. It has
 * no database.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Layer } from "effect"
import { Cookies, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { type Decision, decide, settle } from "../../client/gate.ts"
import { makeCrawlers } from "../../client/crawlers.ts"
import type { GateAnswer } from "../../client/gateAnswers.ts"
import { pathOf } from "../../client/gateRules.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { answerOf, askingOf, requestOf } from "./Checks.ts"
import * as Field from "./Field.ts"
import * as Upstream from "./Upstream.ts"

/** Bytes of a form at the return path. */
const formBytesMax = 16_384

const serverOptions = { headersTimeout: 5_000, requestTimeout: 10_000, maxHeaderSize: 32_768 }

export interface Options extends Upstream.Options {
  readonly host: string
  readonly port: number
  /** The header with the visitor's address, which the proxy sets itself. Absent: Usher does not learn the address. */
  readonly clientAddressHeader?: string | undefined
}

/** Serves while the scope is open. Returns its address. */
export const serve = Effect.fnUntraced(function* ({ host, port, clientAddressHeader, ...upstreamOptions }: Options) {
  const upstream = Upstream.make(upstreamOptions)
  const field = yield* Effect.mapError(
    Field.make(upstream),
    ({ message }) => new StartRefused({ message: `${message}. See --gate and USHER_GATE_KEY.` })
  )
  const counts = new Map<Decision["kind"], number>()
  const check = makeCheck(field, upstream, counts, clientAddressHeader?.toLowerCase())
  const routes = HttpRouter.use((router) =>
    Effect.gen(function* () {
      yield* router.add("GET", "/health", () =>
        Effect.sync(() => json({ status: "ok", isReachable: field.isReachable, version: field.gate.version }))
      )
      yield* router.add("GET", "/metrics", () => Effect.sync(() => metrics(field, counts)))
      yield* router.add("*", "/*", Effect.flatMap(HttpServerRequest.HttpServerRequest, check))
    })
  )
  const listener = NodeHttpServer.layer(() => createServer(serverOptions), { host, port })
  const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
  const services = yield* Layer.build(Layer.provideMerge(served, listener)).pipe(
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(new StartRefused({ message: `--listen ${host}:${port}: cannot listen (${String(cause)}).` }))
    )
  )
  const url = HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address)
  yield* Effect.logInfo(`The gate ${field.gate.id} answers on ${url}`)
  return { url }
})

/** Makes the function that answers a check. */
const makeCheck = (
  field: Field.Field,
  upstream: Upstream.Upstream,
  counts: Map<Decision["kind"], number>,
  clientAddressHeader: string | undefined
) => {
  const crawlers = makeCrawlers()
  return Effect.fnUntraced(function* (incoming: HttpServerRequest.HttpServerRequest) {
    const { method, url, headers } = incoming
    const asking = askingOf(url)
    if (asking === "direct" && pathOf(url) !== field.gate.returnPath) return notFound
    const isForm = asking === "direct" && method === "POST"
    const form = isForm ? yield* formOf(incoming) : undefined
    const { rawHeaders } = NodeHttpServerRequest.toIncomingMessage(incoming)
    const named = requestOf(asking, { method, url, headers, rawHeaders }, { form, clientAddressHeader })
    if (named === undefined) return badRequest
    const crawler = field.gate.rules.some(({ when }) => when.crawler !== undefined)
      ? yield* Effect.promise(() => crawlers(named.headers["user-agent"], named.clientAddress))
      : undefined
    const request = crawler === undefined ? named : { ...named, crawler }
    const now = yield* Clock.currentTimeMillis
    const first = yield* Effect.promise(() => decide(field.knowledge(now), request))
    const decision = first.kind === "ask" ? yield* asked(field, upstream, first.queueId, request) : first
    counts.set(decision.kind, (counts.get(decision.kind) ?? 0) + 1)
    if (decision.kind === "pass" && decision.jti !== undefined) {
      field.seen(decision.jti, now, decision.cookie !== undefined)
    }
    return responseOf(answerOf(asking, decision))
  })
}

const asked = Effect.fnUntraced(function* (
  field: Field.Field,
  upstream: Upstream.Upstream,
  queueId: string,
  request: Parameters<typeof settle>[1]
) {
  const visitor = { attempt: randomUUID(), clientAddress: request.clientAddress }
  const answer = yield* Field.ask(field, upstream, queueId, visitor)
  const now = yield* Clock.currentTimeMillis
  const settled = () => Effect.promise(() => settle(field.knowledge(now), request, answer))
  const decision = yield* settled()
  const isUnknownKey = answer.status === "GRANTED" && (decision.kind !== "pass" || decision.jti === undefined)
  if (!isUnknownKey) return decision
  yield* Field.readKeysAgain(field, upstream, now)
  return yield* settled()
})

/** The form of the return path; empty if it is too large or broken off. */
const formOf = (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<string> =>
  Number(incoming.headers["content-length"] ?? Infinity) > formBytesMax
    ? Effect.succeed("")
    : Effect.orElseSucceed(incoming.text, () => "")

const responseOf = ({ status, headers, cookies, body }: GateAnswer) =>
  body === ""
    ? HttpServerResponse.empty({ status, headers, cookies: Cookies.fromSetCookie(cookies) })
    : HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] ?? "text/plain" })

const json = (body: object, status = 200) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { "cache-control": "no-store" } })

const notFound = json({ error: "Not found" }, 404)

const badRequest = json({ error: "The headers that name the request must be there once" }, 400)

const metrics = (field: Field.Field, counts: ReadonlyMap<string, number>) => {
  const lines = [
    "# TYPE usher_gate_decisions_total counter",
    ...[...counts].map(([kind, count]) => `usher_gate_decisions_total{decision="${kind}"} ${count}`),
    "# TYPE usher_gate_reachable gauge",
    `usher_gate_reachable ${field.isReachable ? 1 : 0}`,
    "# TYPE usher_gate_ended_grants gauge",
    `usher_gate_ended_grants ${field.ended.size}`,
    "# TYPE usher_gate_renewed_total counter",
    `usher_gate_renewed_total ${field.renewed}`
  ]
  return HttpServerResponse.text(`${lines.join("\n")}\n`, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
}
