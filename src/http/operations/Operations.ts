/**
 * The port for operators (`OPERATIONS_PORT`, off by default): `/metrics` in the text format of Prometheus,
 * `/metrics/mechanisms?organization=ID`, `/live`, `/ready` and `/version`. Only loopback reaches it, or callers with
 * `OPERATIONS_TOKEN`. While it is off, the measures cost only additions.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { isUuid } from "../../domain/values/Ids.ts"
import { sha256 } from "../../domain/values/Digest.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { isLoopback } from "../../settings/Loopback.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import * as Tls from "../connections/Tls.ts"
import { CurrentRelease } from "../../store/coordination/CurrentRelease.ts"
import { FormatVersion } from "../../store/coordination/FormatVersion.ts"
import * as Scrape from "./Scrape.ts"
import { annotated } from "../../measures/StateChange.ts"

/** Connections of the port. One scraper needs one. */
const connectionsMax = 64

const serverOptions = { headersTimeout: 5_000, requestTimeout: 5_000, maxHeaderSize: 16_384 }

/** The media type of the text format. */
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

/** The address of the port; undefined while it is off. */
export class OperationsListener extends Context.Service<OperationsListener, { readonly url: string | undefined }>()(
  "usher/http/operations/OperationsListener"
) {}

const text = (body: string) =>
  HttpServerResponse.text(body, { contentType: metricsType, headers: { "cache-control": "no-store" } })
const json = (body: object, status = 200) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { "cache-control": "no-store" } })

const unauthorized = HttpServerResponse.setHeader(json({ error: "Unauthorized" }, 401), "www-authenticate", "Bearer")
const noOrganization = json({ error: "organization must be the id of an organization" }, 400)

/** Makes the condition under which a request gets an answer. */
const makeAdmits = Effect.map(Settings, ({ operationsToken }) => {
  if (Option.isNone(operationsToken)) return () => true
  // Digests have one length, so the comparison takes as long for every token.
  const expected = Buffer.from(sha256(Redacted.value(operationsToken.value)))
  return ({ headers }: HttpServerRequest.HttpServerRequest) => {
    const given = /^Bearer (\S+)$/i.exec(headers["authorization"] ?? "")?.[1] ?? ""
    return timingSafeEqual(Buffer.from(sha256(given)), expected)
  }
})

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const scrape = yield* Scrape.make
    const readiness = yield* Readiness
    const { nodeName } = yield* Settings
    const admits = yield* makeAdmits

    const get = <E, R>(
      path: `/${string}`,
      answer: (
        request: HttpServerRequest.HttpServerRequest
      ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) =>
      router.add(
        "GET",
        path,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          admits(request) ? answer(request) : Effect.succeed(unauthorized)
        )
      )

    yield* router.add("GET", "/live", json({ status: "live" }))
    yield* get("/ready", () =>
      Effect.map(readiness.report, ({ isReady, ...report }) =>
        json({ status: isReady ? "ready" : "not ready", ...report }, isReady ? 200 : 503)
      )
    )
    const formatVersion = yield* FormatVersion
    const release = yield* CurrentRelease
    yield* get("/version", () =>
      Effect.sync(() =>
        json({ ...release, writtenLevel: formatVersion.current, nodeJs: process.version, node: nodeName })
      )
    )
    yield* get("/metrics", () => Effect.map(scrape.all, text))
    yield* get("/metrics/mechanisms", ({ url }) => {
      const id = new URL(url, "http://operations").searchParams.get("organization") ?? ""
      return Effect.succeed(isUuid(id) ? text(scrape.ofOrganization(id.toLowerCase())) : noOrganization)
    })
  })
)

const listening = Layer.effect(
  OperationsListener,
  Effect.gen(function* () {
    const { operationsPort, operationsHost } = yield* Settings
    const tls = isLoopback(operationsHost) ? undefined : yield* Tls.options
    const nodeServer =
      tls === undefined ? createServer(serverOptions) : createSecureServer({ ...serverOptions, ...tls })
    nodeServer.maxConnections = connectionsMax
    const listener = NodeHttpServer.layer(() => nodeServer, {
      host: operationsHost,
      port: operationsPort!,
      disablePreemptiveShutdown: true
    })
    const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
    const services = yield* Layer.build(Layer.provideMerge(served, listener)).pipe(
      Effect.catchTag("ServeError", ({ cause }) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        const remedy = "Set OPERATIONS_PORT to a free port, and OPERATIONS_HOST to an address of this machine."
        return Effect.fail(new StartRefused({ message: `OPERATIONS_PORT: cannot listen (${reason}). ${remedy}` }))
      })
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => nodeServer.closeAllConnections()))
    const address = HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address)
    const url = tls === undefined ? address : address.replace("http:", "https:")
    yield* annotated("api.listening")(Effect.logInfo(`Operations on ${url}`))
    return { url }
  })
)

/** Listens if the settings say so. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ operationsPort }) =>
    operationsPort === undefined ? Layer.succeed(OperationsListener, { url: undefined }) : listening
  )
)
