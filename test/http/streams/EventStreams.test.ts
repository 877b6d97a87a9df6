/** Tests streams alone: their pings and their ends. The test controls their clock; the connections are real. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { createConnection } from "node:net"
import type { EventStream } from "../../../src/http/streams/EventStream.ts"
import { EventStreams } from "../../../src/http/streams/EventStreams.ts"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import { Listeners } from "../../../src/http/server/Server.ts"
import { openStream } from "../support/eventStream.ts"
import * as Listener from "../support/listenerFixture.ts"
import { send } from "../support/usherFixture.ts"

/** The streams of clients by name, and controls for tests. */
class Hands extends Context.Service<
  Hands,
  {
    readonly streams: Map<string, EventStream>
    /** Names of stopped streams, in sequence. */
    readonly stopped: Array<string>
    /** Names whose token has ended. */
    readonly ended: Set<string>
    /** Names whose credentials are no longer valid. */
    readonly refused: Set<string>
    readonly clock: TestClock.TestClock
  }
>()("usher/test/http/Hands") {}

const streamsMax = 6

const hands = Layer.effect(
  Hands,
  Effect.map(TestClock.make({ warningDelay: "1 hour" }), (clock) => ({
    streams: new Map(),
    stopped: [],
    ended: new Set<string>(),
    refused: new Set<string>(),
    clock
  }))
)

const eventStreams = Layer.unwrap(
  Effect.map(Hands, ({ clock }) =>
    EventStreams.layerWith({ api: "consumer", streamsMax, perAddress: 4, perOrganization: 5 }).pipe(
      Layer.provide(Layer.succeed(Clock.Clock, clock))
    )
  )
)

/** `GET /stream?name`: a stream of the client of that name. */
const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { streams, stopped, ended, refused } = yield* Hands
    const { open } = yield* EventStreams
    yield* router.add(
      "GET",
      "/stream",
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
        const name = new URL(url, "http://localhost").searchParams.get("name")!
        const credentials = {
          hasEnded: () => ended.has(name),
          areGood: () => Effect.sync(() => !refused.has(name))
        }
        const source = {
          begin: (stream: EventStream) => void streams.set(name, stream),
          stop: () => void stopped.push(name)
        }
        const parameters = new URL(url, "http://localhost").searchParams
        const owner = {
          organizationId: parameters.get("organization") ?? name,
          address: parameters.get("address") ?? name,
          consumerId: parameters.get("consumer") ?? name
        }
        return Effect.catch(open(credentials, source, owner), ({ retryAfterSeconds }) =>
          Effect.succeed(HttpServerResponse.empty({ status: 503, headers: { "retry-after": `${retryAfterSeconds}` } }))
        )
      })
    )
  })
).pipe(Layer.provide(eventStreams))

const services = Listener.layerWith(routes).pipe(Layer.provideMerge(hands))

/** Opens the stream of a name. Returns both ends. */
const opened = Effect.fnUntraced(function* (name: string) {
  const { consumerUrl } = yield* Listeners
  const { streams } = yield* Hands
  const client = yield* openStream(consumerUrl, `/stream?name=${name}`, {})
  return { client, stream: streams.get(name)! }
})

const event = (data: string) => `data: ${data}\n\n`

const pass = (seconds: number) => Effect.flatMap(Hands, ({ clock }) => clock.adjust(`${seconds} seconds`))

/** Waits in real time until the condition holds. */
const until = (isSo: () => boolean) =>
  Effect.repeat(Effect.sleep("5 millis"), { until: () => isSo() }).pipe(Effect.timeout("20 minutes"), Effect.orDie)

describe("Streams", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("begin at once with a random retry pause, and have the same headers as other responses", () =>
      Effect.gen(function* () {
        const { client, stream } = yield* opened("a")
        const other = yield* opened("b")
        yield* until(() => client.retry() !== undefined && other.client.retry() !== undefined)
        assert.strictEqual(client.headers["content-type"], "text/event-stream")
        assert.deepInclude(client.headers, { "x-api-version": "1.0.0", "access-control-allow-origin": "*" })
        for (const pause of [client.retry()!, other.client.retry()!]) {
          assert.isAtLeast(pause, 1_000)
          assert.isBelow(pause, 5_000)
        }
        assert.isAbove(Math.abs(client.retry()! - other.client.retry()!), 500)
        stream.send("id: 1\nevent: state\ndata: {}\n\n")
        assert.deepStrictEqual(yield* client.next, { id: "1", event: "state", data: {} })
        yield* client.leave
        yield* other.client.leave
      })
    )

    it.effect("send a comment every 15 seconds", () =>
      Effect.gen(function* () {
        const { client } = yield* opened("a")
        const counts: Array<number> = []
        for (let second = 0; second < 60; second++) {
          yield* pass(1)
          yield* Effect.sleep("5 millis")
          counts.push(client.comments())
        }
        yield* until(() => client.comments() === 4)
        assert.isAtMost(counts[14]!, 1)
        assert.isAtMost(counts[29]!, 2)
        yield* client.leave
      })
    )

    it.effect("are stopped when their client disconnects", () =>
      Effect.gen(function* () {
        const { stopped } = yield* Hands
        const { client } = yield* opened("leaver")
        yield* client.leave
        yield* until(() => stopped.includes("leaver"))
        assert.strictEqual(stopped.filter((name) => name === "leaver").length, 1)
      })
    )

    it.effect("end gracefully, with a final event that contains the reason", () =>
      Effect.gen(function* () {
        const { stopped } = yield* Hands
        const { client, stream } = yield* opened("over")
        stream.send(event("last"))
        stream.end("CLOSED")
        stream.end("REPLACED")
        stream.send(event("too late"))
        assert.strictEqual((yield* client.next).data, "last")
        const end = yield* client.next
        assert.deepStrictEqual([end.event, end.data], ["end", { reason: "CLOSED" }])
        assert.strictEqual(yield* client.over, "ended")
        assert.deepStrictEqual(yield* client.arrived, [])
        assert.strictEqual(stopped.filter((name) => name === "over").length, 1)
      })
    )

    it.effect("send no events after the token has ended, and end within a second", () =>
      Effect.gen(function* () {
        const { ended } = yield* Hands
        const [active, silent] = [yield* opened("active"), yield* opened("silent")]
        for (const name of ["active", "silent"]) ended.add(name)
        active.stream.send(event("secret"))
        yield* pass(1)
        for (const { client } of [active, silent]) {
          const end = yield* client.next
          assert.deepStrictEqual([end.event, end.data], ["end", { reason: "CREDENTIALS_ENDED" }])
          assert.strictEqual(yield* client.over, "ended")
        }
      })
    )

    it.effect("end with the next comment if the credentials are no longer valid", () =>
      Effect.gen(function* () {
        const { refused } = yield* Hands
        const { client } = yield* opened("rotated")
        refused.add("rotated")
        for (let second = 0; second < 15; second++) yield* pass(1)
        assert.deepStrictEqual((yield* client.next).data, { reason: "CREDENTIALS_ENDED" })
        assert.strictEqual(yield* client.over, "ended")
      })
    )

    it.effect("drop a client that does not read, with a small buffer, while others continue", () =>
      Effect.gen(function* () {
        const { stopped } = yield* Hands
        const [stalled, active] = [yield* opened("stalled"), yield* opened("attentive")]
        stalled.client.pause()
        const large = event("x".repeat(1_000_000))
        for (let n = 0; n < 20; n++) {
          for (const { stream } of [stalled, active]) stream.send(large)
          yield* active.client.next
        }
        yield* pass(9)
        assert.isFalse(stopped.includes("stalled"))
        yield* pass(2)
        assert.isTrue(stopped.includes("stalled"))
        active.stream.send(event("still here"))
        assert.strictEqual((yield* active.client.next).data, "still here")
        stalled.client.resume()
        assert.strictEqual(yield* stalled.client.over, "cut")
        assert.isBelow((yield* stalled.client.arrived).length, 15)
        yield* active.client.leave
      })
    )

    it.effect("send a client that falls behind the latest event, without all earlier ones", () =>
      Effect.gen(function* () {
        const { client, stream } = yield* opened("slow")
        client.pause()
        const padding = "x".repeat(1_000_000)
        for (let n = 1; n <= 30; n++) {
          stream.send(event(`${n} ${padding}`))
          yield* Effect.sleep("2 millis")
        }
        client.resume()
        const received: Array<number> = []
        while (received.at(-1) !== 30) received.push(Number.parseInt((yield* client.next).data))
        assert.isBelow(received.length, 20)
        assert.deepStrictEqual(
          received,
          received.toSorted((a, b) => a - b)
        )
        stream.send(event("31"), event("not behind"))
        assert.strictEqual((yield* client.next).data, "31")
        client.pause()
        for (let n = 32; n <= 62; n++) {
          stream.send(event(`${n} ${padding}`), event("instead"))
          yield* Effect.sleep("2 millis")
        }
        client.resume()
        while ((yield* client.next).data !== "instead") continue
        assert.deepStrictEqual(yield* client.arrived, [])
        yield* client.leave
      })
    )

    it.effect("are refused while there are too many, with Retry-After", () =>
      Effect.gen(function* () {
        const { stopped } = yield* Hands
        const { consumerUrl } = yield* Listeners
        const clients = yield* Effect.forEach(Array.from({ length: streamsMax }), (_, n) => opened(`many ${n}`))
        const refusal = yield* send(consumerUrl, { path: "/stream?name=more" })
        assert.deepStrictEqual([refusal.status, refusal.headers["retry-after"]], [503, "5"])
        for (const { client } of clients) yield* client.leave
        yield* until(() => stopped.filter((name) => name.startsWith("many")).length === streamsMax)
        const { client } = yield* opened("later")
        assert.strictEqual(client.status, 200)
        yield* client.leave
      })
    )

    it.effect("are refused to an address with too many, with a 429, and to an organization, with a 503", () =>
      Effect.gen(function* () {
        const { stopped } = yield* Hands
        const { consumerUrl } = yield* Listeners
        const statusOf = (query: string) =>
          Effect.map(send(consumerUrl, { path: `/stream?${query}` }), ({ status }) => status)
        const of4 = yield* Effect.forEach([1, 2, 3, 4], (n) => opened(`near${n}&address=a&organization=o`))
        const refusal = yield* send(consumerUrl, { path: "/stream?name=more&address=a" })
        assert.deepStrictEqual([refusal.status, refusal.body.error], [429, "Rate limit exceeded"])
        const last = yield* opened("near5&address=b&organization=o")
        assert.strictEqual(last.client.status, 200)
        assert.strictEqual(yield* statusOf("name=more&address=c&organization=o"), 503)
        const other = yield* opened("near6&address=c&organization=p")
        assert.strictEqual(other.client.status, 200)
        for (const { client } of [...of4, last, other]) yield* client.leave
        yield* until(() => stopped.filter((name) => name.startsWith("near")).length === 6)
        assert.strictEqual((yield* opened("again&address=a")).client.status, 200)
      })
    )

    it.effect("are not opened by HEAD", () =>
      Effect.gen(function* () {
        const { streams } = yield* Hands
        const { consumerUrl } = yield* Listeners
        const { status, headers } = yield* send(consumerUrl, { method: "HEAD", path: "/stream?name=head" })
        assert.deepStrictEqual([status, headers["content-type"]], [200, "text/event-stream"])
        assert.isFalse(streams.has("head"))
      })
    )

    it.effect("survive a client whose connection resets during events", () =>
      Effect.gen(function* () {
        const { stopped } = yield* Hands
        const { consumerUrl } = yield* Listeners
        const { hostname, port } = new URL(consumerUrl)
        const { streams } = yield* Hands
        const socket = createConnection(Number(port), hostname)
        socket.write("GET /stream?name=vanishing HTTP/1.1\r\nHost: localhost\r\n\r\n")
        yield* until(() => streams.has("vanishing"))
        const stream = streams.get("vanishing")!
        socket.resetAndDestroy()
        for (let n = 0; n < 10; n++) {
          stream.send(event(`${n}`))
          yield* Effect.sleep("1 millis")
        }
        yield* until(() => stopped.includes("vanishing"))
        stream.send(event("after the end"))
        assert.strictEqual((yield* opened("next")).client.status, 200)
      })
    )
  })

  it.live("end gracefully and quickly when the process shuts down, and no new ones open", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(services, scope)
      const [one, other] = yield* Effect.provide(Effect.all([opened("one"), opened("other")]), context)
      const from = performance.now()
      yield* Context.get(context, Readiness).drain
      const refusal = yield* send(Context.get(context, Listeners).consumerUrl, { path: "/stream?name=late" })
      assert.strictEqual(refusal.status, 503)
      yield* Scope.close(scope, Exit.void)
      assert.isBelow(performance.now() - from, 10_000)
      for (const { client } of [one, other]) {
        assert.strictEqual(yield* client.over, "ended")
        assert.deepStrictEqual(yield* client.arrived, [])
      }
    })
  )
})
