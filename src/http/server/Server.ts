/**
 * The two listeners of a process: the Consumer API and the Admin API. Each has a port, because they share paths. An engine
 * (`CLUSTER_ROLE`) has the Admin API's alone.
 *
 * At a shutdown `/ready` reports it first. When load balancers have noticed, new connections are refused, and new
 * requests on open ones get a 503 with `Retry-After`; requests in flight are answered and their connections closed. That
 * may take a share of `SHUTDOWN_TIMEOUT_SECONDS`. Requests that are left then get a 503, and every connection is cut.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Clock, Context, Duration, Effect, Layer, Random, References, Scope, Tracer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import { createServer, type RequestListener, type Server as NodeServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { Settings } from "../../settings/Settings.ts"
import * as Accepting from "../connections/Accepting.ts"
import * as Connections from "../connections/Connections.ts"
import { type Answer, DirectPath } from "../direct/Direct.ts"
import { Measures } from "../../measures/Measures.ts"
import * as Envelope from "./Envelope.ts"
import type { Api } from "../limits/Limit.ts"
import { RateLimits } from "../limits/RateLimits.ts"
import { Methods, routerConfig } from "./Methods.ts"
import { answersWritten, responseOf } from "./MeasuredResponse.ts"
import { Origins } from "./Origins.ts"
import * as RequestSpans from "./RequestSpans.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as Tls from "../connections/Tls.ts"
import { TestClocks } from "../../store/testClock/TestClocks.ts"
import { annotated } from "../../measures/StateChange.ts"

/** Bytes of the largest body that is read. A larger one gets a 413. */
const bodySizeMax = ByteSize.mebibytes(1)

/** The share of the shutdown time for requests in flight. The rest is for the actors and the database. */
const drainShare = 0.6

const serverOptions = {
  /**
   * Longer than load balancers keep their connections (60 s is usual), so that they never send on a connection that was
   * just closed.
   */
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  /** Milliseconds between two looks for connections that exceed these times. */
  connectionsCheckingInterval: 1_000,
  /**
   * Enough for a token that is far too long, so that it gets an error of the API. Node refuses larger headers with a
   * 431.
   */
  maxHeaderSize: 32_768,
  /** Milliseconds in which a client must complete its TLS handshake. */
  handshakeTimeout: 5_000,
  /** From the first byte of a request to its last. Answers and streams have no limit. */
  requestTimeout: 30_000
}

/** The addresses of the APIs, once they listen. An engine's Consumer API is at the fronts: the address of the settings. */
export class Listeners extends Context.Service<
  Listeners,
  { readonly consumerUrl: string; readonly adminUrl: string }
>()("usher/http/server/Listeners") {}

/** Serves both APIs on the addresses and ports of the settings. */
export const layer = <E1, R1, E2, R2>(apis: {
  readonly consumer: Layer.Layer<never, E1, R1>
  readonly admin: Layer.Layer<never, E2, R2>
}) =>
  Layer.effect(
    Listeners,
    Effect.gen(function* () {
      const { host, consumerPort, adminHost, adminPort, clusterRole } = yield* Settings
      const readiness = yield* Readiness
      // Both drain at the same time, and only after `/ready` has reported the shutdown.
      const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
      let areListening = false
      yield* readiness.require(
        "listeners",
        Effect.sync(() => (areListening ? undefined : "not both APIs listen yet"))
      )
      // Both share one count of requests.
      const services = yield* Layer.build(Layer.merge(RateLimits.layer, Origins.layer))
      const listenForConsumers = listen({
        name: "Consumer API",
        api: "consumer",
        host,
        port: consumerPort,
        routes: Layer.merge(apis.consumer, Envelope.layer("consumer")),
        services
      }).pipe(Scope.provide(yield* Scope.fork(scope)))
      const scheme = (yield* Tls.options) === undefined ? "http:" : "https:"
      const atFronts = `${scheme}//${host.includes(":") ? `[${host}]` : host}:${consumerPort}`
      const consumerUrl = clusterRole === "engine" ? atFronts : yield* listenForConsumers
      const adminUrl = yield* listen({
        name: "Admin API",
        api: "admin",
        host: adminHost,
        port: adminPort,
        routes: Layer.merge(apis.admin, Envelope.layer("admin")),
        services
      }).pipe(Scope.provide(yield* Scope.fork(scope)))
      areListening = true
      const draining = annotated("process.draining")(Effect.logInfo("Shutting down"))
      yield* Effect.addFinalizer(() =>
        readiness.drain.pipe(Effect.andThen(draining), Effect.andThen(shutdownDelay), Effect.andThen(readiness.refuse))
      )
      return { consumerUrl, adminUrl }
    })
  )

/**
 * The services of the listener that a request gets. Each route brings those it needs, and HttpApi copies the context of
 * a request for it, so the context is small.
 */
const ofRequests: (services: Context.Context<Scope.Scope>) => Context.Context<Scope.Scope> = Context.pick(
  Scope.Scope,
  Clock.Clock,
  TestClocks,
  Random.Random,
  Tracer.Tracer,
  References.CurrentLoggers,
  References.MinimumLogLevel
)

/**
 * The time for balancers to notice a shutdown. A process whose supervisor was killed takes none: all others of this machine
 * stop too, and the next supervisor needs their ports.
 */
const shutdownDelay = Effect.flatMap(Settings, ({ shutdownDelayMillis, supervised }) =>
  supervised && !process.connected ? Effect.void : Effect.sleep(shutdownDelayMillis)
)

/** Makes one listener. Its routes are complete before it accepts connections. Returns its address. */
const listen = Effect.fnUntraced(function* <E, R>(options: {
  readonly name: string
  readonly api: Api
  readonly host: string
  readonly port: number
  readonly routes: Layer.Layer<never, E, R>
  readonly services: Context.Context<RateLimits | Origins>
}) {
  const { shutdownTimeoutSeconds, supervised } = yield* Settings
  const tls = yield* Tls.options
  const { http } = yield* Measures
  const serving = { ...serverOptions, ServerResponse: responseOf(http[options.api]) }
  const router = yield* Layer.build(
    options.routes.pipe(
      Layer.provide(Methods.layer),
      Layer.provide(Layer.succeedContext(options.services)),
      Layer.provideMerge(Layer.merge(HttpRouter.layer, DirectPath.layer)),
      Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)),
      Layer.provide(NodeHttpServer.layerHttpServices)
    )
  )
  const bound = yield* Accepting.bind({
    create: () => (tls === undefined ? createServer(serving) : createSecureServer({ ...serving, ...tls })),
    host: options.host,
    port: options.port,
    isShared: supervised
  })
  const { nodeServer, server } = bound
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      answersWritten,
      Effect.sync(() => nodeServer.closeAllConnections())
    )
  )
  yield* server
    .serve(Context.get(router, HttpRouter.HttpRouter).asHttpEffect())
    .pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, bodySizeMax), Effect.updateContext(ofRequests))
  yield* answerFirst(nodeServer, yield* Context.get(router, DirectPath).open, yield* RequestSpans.make(options.api))
  // After `serve`: a request that came before it would never be answered, and this waits for the system.
  yield* Connections.guard(nodeServer, options.api)
  yield* bound.acceptMore
  const refused = Effect.andThen(bound.acceptNone, shutdownDelay)
  yield* Effect.addFinalizer(() => Effect.andThen(refused, drained(bound, shutdownTimeoutSeconds * drainShare)))
  const address = HttpServer.formatAddress(server.address)
  const url = tls === undefined ? address : address.replace("http:", "https:")
  yield* annotated("api.listening")(Effect.logInfo(`${options.name} on ${url}`))
  return url
})

/**
 * Starts the span of a sampled request, then offers the request to the direct path. What it leaves goes to the last
 * listener, which `serve` has added.
 */
const answerFirst = (
  nodeServer: NodeServer,
  answer: Answer,
  sample: Effect.Success<ReturnType<typeof RequestSpans.make>>
) =>
  Effect.sync(() => {
    const complete = nodeServer.listeners("request").at(-1) as RequestListener
    nodeServer.off("request", complete)
    nodeServer.on("request", (message, response) => {
      sample?.(message, response)
      answer(message, response, () => complete(message, response))
    })
  })

/** Returns when every connection has ended, or after the given time. */
const drained = ({ close }: Accepting.Bound, seconds: number) =>
  close.pipe(
    Effect.interruptible,
    Effect.timeoutOrElse({ duration: Duration.seconds(seconds), orElse: () => Effect.void })
  )
