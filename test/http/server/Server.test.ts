/**
 * Tests the end of a process's listeners: requests in flight complete, no new ones start, and the shutdown has a time
 * limit.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Agent, request } from "node:http"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import * as Server from "../../../src/http/server/Server.ts"
import * as System from "../../../src/http/server/System.ts"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import { layerWith, outsideAddress } from "../support/listenerFixture.ts"
import { type Answer, send } from "../support/usherFixture.ts"

/** Starts a pair of listeners with a request that the test can prolong. Returns how to stop them. */
const start = Effect.fnUntraced(function* (settings: {
  readonly shutdownTimeoutSeconds: number
  readonly shutdownDelayMillis?: number
}) {
  const arrived = yield* Deferred.make<void>()
  const finish = yield* Deferred.make<void>()
  const routes = Layer.merge(
    System.layer(ConsumerApi, "public"),
    HttpRouter.add(
      "GET",
      "/slow",
      Effect.gen(function* () {
        yield* Deferred.succeed(arrived, undefined)
        yield* Deferred.await(finish)
        return HttpServerResponse.jsonUnsafe({ done: true })
      })
    )
  )
  const scope = yield* Scope.make()
  const services = yield* Layer.buildWithScope(layerWith(routes, settings), scope)
  const { consumerUrl, adminUrl } = Context.get(services, Server.Listeners)
  return {
    url: consumerUrl,
    adminUrl,
    readiness: Context.get(services, Readiness),
    arrived: Deferred.await(arrived),
    finish: Deferred.succeed(finish, undefined),
    stop: Scope.close(scope, Exit.void)
  }
})

/** Sends a request on a keep-alive connection. */
const keeping = (
  agent: Agent,
  url: string,
  path: string,
  method = "GET"
): Effect.Effect<Pick<Answer, "status" | "headers">, Error> =>
  Effect.callback((resume) => {
    request(new URL(path, url), { agent, method }, (response) => {
      response.resume()
      response.on("end", () =>
        resume(Effect.succeed({ status: response.statusCode!, headers: response.headers as Answer["headers"] }))
      )
    })
      .on("error", (error) => resume(Effect.fail(error)))
      .end()
  })

const refused = (url: string) =>
  Effect.promise(() =>
    fetch(url).then(
      () => false,
      () => true
    )
  )

describe("Listening", () => {
  it.live("has a separate address for the Admin API, if one is set", () =>
    Effect.gen(function* () {
      const listeners = layerWith(Layer.empty, { host: "0.0.0.0", adminHost: "127.0.0.1" })
      const { consumerUrl, adminUrl } = Context.get(yield* Layer.build(listeners), Server.Listeners)
      assert.strictEqual(new URL(adminUrl).hostname, "127.0.0.1")
      assert.strictEqual((yield* send(adminUrl, { path: "/things" })).status, 404)
      const open = (url: string) => `http://${outsideAddress}:${new URL(url).port}`
      assert.isFalse(yield* refused(open(consumerUrl)))
      assert.isTrue(yield* refused(open(adminUrl)))
    })
  )
})

describe("Ending", () => {
  it.live("completes requests in flight, and closes their connections", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 10 })
      const slow = yield* Effect.forkChild(send(server.url, { path: "/slow" }))
      yield* server.arrived
      const stopping = yield* Effect.forkChild(server.stop)
      while (!(yield* refused(`${server.url}/health`))) yield* Effect.sleep("5 millis")
      yield* server.finish
      const answer = yield* Fiber.join(slow)
      assert.deepStrictEqual([answer.status, answer.body], [200, { done: true }])
      assert.strictEqual(answer.headers["connection"], "close")
      yield* Fiber.join(stopping)
    })
  )

  it.live("answers new requests on open connections with 503 and Retry-After, and completes those in flight", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 30, shutdownDelayMillis: 2_000 })
      const slow = yield* Effect.forkChild(send(server.url, { path: "/slow" }))
      yield* server.arrived
      const later = [
        [server.url, "GET", "/api/queues/1/status"],
        [server.url, "POST", "/api/queues/1/enter"],
        [server.adminUrl, "PUT", "/api/experiences/1"],
        [server.adminUrl, "DELETE", "/api/webhooks/1"],
        [server.url, "GET", "/api/nothing"]
      ] as const
      const agents = later.map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
      for (const [index, [url]] of later.entries()) yield* keeping(agents[index]!, url, "/api/unknown")
      const stopping = yield* Effect.forkChild(server.stop)
      while (!server.readiness.isRefusing()) yield* Effect.sleep("5 millis")
      for (const [index, [url, method, path]] of later.entries()) {
        const { status, headers } = yield* keeping(agents[index]!, url, path, method)
        assert.deepStrictEqual([status, headers["retry-after"], headers["connection"]], [503, "1", "close"], path)
      }
      assert.isTrue(yield* refused(`${server.url}/health`), "no new connection is accepted")
      yield* server.finish
      assert.strictEqual((yield* Fiber.join(slow)).status, 200)
      yield* Fiber.join(stopping)
    })
  )

  it.live("serves requests until balancers have noticed", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 30, shutdownDelayMillis: 2_000 })
      const stopping = yield* Effect.forkChild(server.stop)
      while (!server.readiness.isDraining()) yield* Effect.sleep("5 millis")
      assert.deepStrictEqual(
        [(yield* send(server.url, { path: "/ready" })).status, (yield* send(server.url, { path: "/api/a" })).status],
        [503, 404]
      )
      assert.strictEqual((yield* send(server.url, { path: "/ready?for=reads" })).status, 503)
      yield* Fiber.join(stopping)
    })
  )

  it.live("does not wait for idle connections", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 300 })
      const agent = new Agent({ keepAlive: true })
      const { status, headers } = yield* keeping(agent, server.url, "/health")
      assert.deepStrictEqual([status, headers["connection"]], [200, "keep-alive"])
      yield* Effect.timeout(server.stop, "150 seconds")
    })
  )

  it.live("responds with 503 to requests that are unfinished at the time limit", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 1 })
      const slow = yield* Effect.forkChild(send(server.url, { path: "/slow" }))
      yield* server.arrived
      yield* server.stop
      const { status, body, headers } = yield* Fiber.join(slow)
      assert.deepStrictEqual([status, body, headers["retry-after"]], [503, { error: "Service unavailable" }, "1"])
    })
  )
})

describe("Readiness", () => {
  it.live("is withdrawn first when the process drains", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 1 })
      const ready = yield* send(server.url, { path: "/ready" })
      assert.deepStrictEqual([ready.status, ready.body], [200, { status: "ready" }])
      const ended = yield* Effect.forkChild(server.readiness.awaitDraining)
      yield* server.readiness.drain
      yield* Fiber.join(ended)
      const draining = yield* send(server.url, { path: "/ready" })
      assert.strictEqual(draining.status, 503)
      assert.strictEqual(draining.body.error, "Service unavailable")
      assert.deepStrictEqual(draining.body.reasons, { process: "draining" })
      assert.strictEqual(draining.headers["retry-after"], "1")
      assert.strictEqual((yield* send(server.url, { path: "/health" })).status, 200)
      yield* server.stop
    })
  )

  it.live("lists each condition that does not hold, and returns when all hold", () =>
    Effect.gen(function* () {
      const server = yield* start({ shutdownTimeoutSeconds: 1 })
      let reason: string | undefined = "out of reach"
      const conditions = yield* Scope.make()
      yield* Effect.all([
        server.readiness.require(
          "database",
          Effect.sync(() => reason)
        ),
        server.readiness.require("fine", Effect.succeed(undefined)),
        server.readiness.require("writes", Effect.succeed("no space"), Effect.succeed(undefined)),
        server.readiness.require("odd", Effect.die("a defect"))
      ]).pipe(Scope.provide(conditions))
      const answer = yield* send(server.url, { path: "/ready" })
      assert.deepStrictEqual(answer.body.reasons, { database: "out of reach", writes: "no space", odd: "failed" })
      const forReads = yield* send(server.url, { path: "/ready?for=reads" })
      assert.deepStrictEqual(forReads.body.reasons, { database: "out of reach", odd: "failed" })
      assert.strictEqual(answer.status, 503)
      reason = undefined
      yield* Scope.close(conditions, Exit.void)
      yield* Effect.sleep("1100 millis")
      assert.strictEqual((yield* send(server.url, { path: "/ready" })).status, 200)
      yield* server.stop
    })
  )
})
