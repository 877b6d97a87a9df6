/** Which requests take the direct path, and what happens to a request while it is on it. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { HttpServerResponse } from "effect/http"
import { IpNetwork } from "effect/net"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { connect, type Socket } from "node:net"
import { fileURLToPath } from "node:url"
import { SigningKeys } from "../../../src/auth/keys/SigningKeys.ts"
import { sign } from "../../../src/auth/tokens/Signing.ts"
import * as AdminRoutes from "../../../src/http/admin/Routes.ts"
import * as ConsumerRoutes from "../../../src/http/consumer/Routes.ts"
import * as Credentials from "../../../src/api/Credentials.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { Measures } from "../../../src/measures/Measures.ts"
import { asConsumer, asServer, send } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"
import { comparable, exchange } from "./generated.ts"

/** Middlewares that answer 418 instead of the operation. Only the direct path does not ask them. */
const refuse = () => Effect.succeed(HttpServerResponse.empty({ status: 418 }))
const refusing = Layer.mergeAll(
  Layer.succeed(Credentials.Anyone, refuse),
  Layer.succeed(Credentials.PublicRead, refuse),
  Layer.succeed(Credentials.SessionCreation, refuse),
  Layer.succeed(Credentials.SessionUpgrade, refuse),
  Layer.succeed(Credentials.SessionEnd, refuse),
  Layer.succeed(Credentials.ConsumerAction, refuse),
  Layer.succeed(Credentials.ConsumerStream, refuse),
  Layer.succeed(Credentials.ServerAction, refuse),
  Layer.succeed(Credentials.GateAction, refuse)
)
const directOnly = Server.layer({ consumer: ConsumerRoutes.layerWith(refusing), admin: AdminRoutes.layer })

/**
 * Asks until the direct path answers. A busy machine may notice late that its memory is current, and leaves requests to
 * HttpApi until then.
 */
const onDirectPath = <A extends { readonly status: number | undefined }>(ask: Effect.Effect<A>) =>
  Effect.repeat(ask, { until: ({ status }) => status !== 418, schedule: Schedule.spaced("50 millis") })

const head = (method: string, path: string, headers: object, connection = "close") => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n${lines.join("")}`
}

const setUp = Effect.gen(function* () {
  const usher = yield* Fixture.Usher
  const { publishableKey, secretKey } = usher.brand
  const { accessToken, refreshToken } = yield* usher.guest()
  const queueId = yield* usher.queue()
  const asGuest = asConsumer(publishableKey, accessToken)
  // The key and the token are in memory from now on.
  yield* usher.consumer({ path: `/api/queues/${queueId}/status`, headers: asGuest })
  return { publishableKey, secretKey, accessToken, refreshToken, queueId, asGuest, url: usher.consumerUrl }
})

describe("The direct path", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("answers the operations of a drop, in browsers too", () =>
      Effect.gen(function* () {
        const { publishableKey, refreshToken, queueId, asGuest } = yield* setUp
        const { consumerUrl } = yield* Fixture.otherListeners({ directPath: true }, directOnly)
        const ask = (method: string, path: string, headers: Record<string, string>, body?: object) =>
          Effect.map(
            onDirectPath(
              send(consumerUrl, { method, path, headers: { origin: "https://shop.example", ...headers }, body })
            ),
            ({ status }) => status
          )
        const queue = `/api/queues/${queueId}`
        assert.strictEqual(yield* ask("GET", `${queue}/status`, asGuest), 200)
        assert.strictEqual(yield* ask("POST", `${queue}/enter`, asGuest), 200)
        assert.strictEqual(yield* ask("GET", `${queue}/events`, asGuest), 200)
        assert.strictEqual(yield* ask("POST", `${queue}/leave`, asGuest), 200)
        const key = { "x-publishable-key": publishableKey }
        assert.strictEqual(yield* ask("POST", "/api/auth/guest", key), 200)
        assert.strictEqual(yield* ask("POST", "/api/auth/refresh", key, { refreshToken }), 200)
        assert.strictEqual(yield* ask("POST", `/api/auctions/${queueId}/bid`, asGuest, { amount: "1" }), 404)
      }).pipe(Effect.scoped)
    )

    it.effect("answers over TLS, and behind a trusted proxy", () =>
      Effect.gen(function* () {
        const { queueId, asGuest } = yield* setUp
        const path = `/api/queues/${queueId}/status`
        const secure = yield* Fixture.otherListeners({ directPath: true, ...tls }, directOnly)
        const answer = yield* onDirectPath(secureGet(new URL(path, secure.consumerUrl), asGuest))
        assert.deepStrictEqual([answer.status, answer.transport], [200, "max-age=31536000"])
        const trustedProxies = [IpNetwork.fromStringUnsafe("127.0.0.0/8")]
        const { consumerUrl } = yield* Fixture.otherListeners({ directPath: true, trustedProxies }, directOnly)
        const forwarded = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" }
        const proxied = yield* onDirectPath(send(consumerUrl, { path, headers: { ...asGuest, ...forwarded } }))
        assert.deepStrictEqual(
          [proxied.status, proxied.headers["strict-transport-security"]],
          [200, "max-age=31536000"]
        )
      }).pipe(Effect.scoped)
    )

    it.effect("leaves every unusual request to the complete path", () =>
      Effect.gen(function* () {
        const { publishableKey, secretKey, queueId, asGuest, accessToken } = yield* setUp
        const { consumerUrl } = yield* Fixture.otherListeners({ directPath: true }, directOnly)
        const path = `/api/queues/${queueId}/status`
        const cases = [
          { path },
          { path, headers: { ...asGuest, "x-publishable-key": secretKey } },
          { path, headers: { ...asGuest, authorization: `Bearer ${accessToken}x` } },
          { path, headers: asServer(secretKey, queueId) },
          { path: `${path}?x=1`, headers: asGuest },
          { path: "/api/queues/x/status", headers: asGuest },
          { path, headers: asGuest, method: "HEAD" },
          { path: "/api/auth/refresh", method: "POST", headers: { "x-publishable-key": publishableKey }, body: {} },
          { path: "/api/auth/refresh", method: "POST", headers: { "x-publishable-key": publishableKey }, body: "{" }
        ]
        for (const call of cases) assert.strictEqual((yield* send(consumerUrl, call)).status, 418, JSON.stringify(call))
      }).pipe(Effect.scoped)
    )

    it.effect(
      "looks up a token that is new to the process, and leaves one that is not valid to the complete path",
      () =>
        Effect.gen(function* () {
          const { queueId, publishableKey, accessToken } = yield* setUp
          const keys = yield* SigningKeys
          const { consumerUrl } = yield* Fixture.otherListeners({ directPath: true }, directOnly)
          const known = JSON.parse(Buffer.from(accessToken.split(".")[1]!, "base64url").toString()) as object
          const path = `/api/queues/${queueId}`
          const ask = (changed: object, call: { readonly method?: string; readonly path: string }) => {
            const token = sign(keys, { ...known, jti: randomUUID(), ...changed })
            return send(consumerUrl, { ...call, headers: asConsumer(publishableKey, token) })
          }
          const asked = (call: Parameters<typeof ask>[1]) => onDirectPath(Effect.suspend(() => ask({}, call)))
          const status = { path: `${path}/status` }
          assert.strictEqual((yield* asked(status)).status, 200)
          assert.strictEqual((yield* asked({ method: "POST", path: `${path}/enter` })).status, 200)
          assert.strictEqual((yield* asked({ path: `${path}/events` })).status, 200)
          for (const changed of [
            { sessionId: randomUUID() },
            { exp: 1 },
            { aud: "usher:refresh" },
            { type: "refresh" }
          ])
            assert.strictEqual((yield* ask(changed, status)).status, 418, JSON.stringify(changed))
        }).pipe(Effect.scoped)
    )

    it.effect("does not exist if it is switched off", () =>
      Effect.gen(function* () {
        const { queueId, asGuest } = yield* setUp
        const { consumerUrl } = yield* Fixture.otherListeners({ directPath: false }, directOnly)
        const answer = yield* send(consumerUrl, { path: `/api/queues/${queueId}/status`, headers: asGuest })
        assert.strictEqual(answer.status, 418)
      }).pipe(Effect.scoped)
    )

    it.effect("refuses a token when its session has ended, and a key when it is replaced", () =>
      Effect.gen(function* () {
        const usher = yield* Fixture.Usher
        const { queueId, accessToken, asGuest, url } = yield* setUp
        const call = { path: `/api/queues/${queueId}/status`, headers: asGuest }
        assert.strictEqual((yield* send(url, call)).status, 200)
        yield* usher.consumer({
          method: "POST",
          path: "/api/auth/logout",
          headers: { authorization: `Bearer ${accessToken}` }
        })
        assert.strictEqual((yield* send(url, call)).status, 401)
        const other = yield* usher.guest(usher.stranger.publishableKey)
        const strangers = { ...call, headers: asConsumer(usher.stranger.publishableKey, other.accessToken) }
        assert.strictEqual((yield* send(url, strangers)).status, 404)
        yield* usher.admin({
          method: "POST",
          path: "/api/api-keys/publishable/rotate",
          headers: asServer(usher.stranger.secretKey),
          body: {}
        })
        assert.strictEqual((yield* send(url, strangers)).status, 401)
      })
    )
  })
})

describe("On a connection", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("requests that come at once, or byte by byte, are answered in order, whichever path they take", () =>
      Effect.gen(function* () {
        const { queueId, asGuest, url } = yield* setUp
        const queue = `/api/queues/${queueId}`
        const paths = [`${queue}/enter`, `${queue}/status`, queue, `${queue}/leave`, "/health", `${queue}/status`]
        const text = paths
          .map((path, index) => {
            const isLast = index === paths.length - 1
            const method = /enter|leave/.test(path) ? "POST" : "GET"
            return `${head(method, path, { ...asGuest, "x-request-id": `r${index}` }, isLast ? "close" : "keep-alive")}\r\n`
          })
          .join("")
        for (const pieces of [[text], [...text]]) {
          const answer = yield* exchange(url, pieces, true)
          const ids = [...answer.matchAll(/^x-request-id: (.*)\r$/gm)].map(([, id]) => id)
          assert.deepStrictEqual(ids, ["r0", "r1", "r2", "r3", "r4", "r5"])
        }
      })
    )

    it.effect("a request may be split at any byte", () =>
      Effect.gen(function* () {
        const { publishableKey, url } = yield* setUp
        const body = JSON.stringify({ refreshToken: "no-token-ö" })
        const bytes = Buffer.from(
          `${head("POST", "/api/auth/refresh", {
            "x-publishable-key": publishableKey,
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
            "x-request-id": "r"
          })}\r\n${body}`
        )
        const whole = comparable(yield* exchange(url, [bytes]))
        assert.match(whole, /^HTTP\/1.1 401 /)
        for (let at = 1; at < bytes.length; at++) {
          const split = yield* exchange(url, [bytes.subarray(0, at), bytes.subarray(at)], true)
          assert.strictEqual(comparable(split), whole, `at ${at}`)
        }
      })
    )

    it.effect("a request that two servers could read differently is refused, and ends the connection", () =>
      Effect.gen(function* () {
        const { queueId, asGuest, url } = yield* setUp
        const smuggled = `${head("POST", `/api/queues/${queueId}/enter`, asGuest)}\r\n`
        const start = head("POST", `/api/queues/${queueId}/leave`, asGuest, "keep-alive")
        const cases = [
          `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
          `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
          `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
          `Content-Length: 0, 4\r\n\r\n${smuggled}`,
          `Content-Length: +0\r\n\r\n${smuggled}`,
          `Content-Length : 0\r\n\r\n${smuggled}`,
          `Transfer-Encoding: xchunked\r\n\r\n${smuggled}`,
          `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
          ` folded: 1\r\n\r\n${smuggled}`,
          `X: a\nY: b\r\n\r\n${smuggled}`
        ]
        for (const more of cases) {
          const answer = yield* exchange(url, [start + more])
          assert.strictEqual(answer.match(/HTTP\/1\.1 /g)?.length, 1, `${more}: ${answer}`)
          assert.match(answer, /^HTTP\/1.1 400 /, more)
        }
        const standing = yield* send(url, { path: `/api/queues/${queueId}/status`, headers: asGuest })
        assert.strictEqual(standing.body.status, "NOT_QUEUED")
      })
    )

    it.effect("headers that are too large are refused, and an expectation is met or refused", () =>
      Effect.gen(function* () {
        const { queueId, asGuest, url, publishableKey } = yield* setUp
        const start = head("GET", `/api/queues/${queueId}/status`, asGuest)
        assert.match(yield* exchange(url, [`${start}X: ${"a".repeat(40_000)}\r\n\r\n`]), /^HTTP\/1.1 431 /)
        assert.match(yield* exchange(url, [`${start}Expect: something\r\n\r\n`]), /^HTTP\/1.1 417 /)
        const refresh = head("POST", "/api/auth/refresh", { "x-publishable-key": publishableKey })
        assert.match(
          yield* exchange(url, [`${refresh}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`, "{}"], true),
          /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 400 /
        )
        // A connection option names headers of the hop. It does not remove credentials.
        const named = head("GET", `/api/queues/${queueId}/status`, asGuest, "close, authorization, x-publishable-key")
        assert.match(yield* exchange(url, [`${named}\r\n`]), /^HTTP\/1.1 200 /)
      })
    )

    it.effect("a client that reads slowly gets every answer, and delays no other client", () =>
      Effect.gen(function* () {
        const { queueId, asGuest, url } = yield* setUp
        const status = `/api/queues/${queueId}/status`
        const slow = yield* slowReader(url)
        const requestOf = (n: number) =>
          `${head("GET", status, { ...asGuest, "x-request-id": `r${n}` }, "keep-alive")}\r\n`
        slow.write(Array.from({ length: 3_000 }, (_, n) => requestOf(n)).join(""))
        assert.strictEqual((yield* send(url, { path: status, headers: asGuest })).status, 200)
        const ids = [...(yield* slow.readUntil("x-request-id: r2999\r\n")).matchAll(/^x-request-id: r(.*)\r$/gm)]
        assert.deepStrictEqual(
          ids.map(([, id]) => Number(id)),
          Array.from({ length: 3_000 }, (_, n) => n)
        )
      }).pipe(Effect.scoped)
    )

    it.effect("a client that goes while its command is written has sent it, and leaves no request behind", () =>
      Effect.gen(function* () {
        const usher = yield* Fixture.Usher
        const { queueId, publishableKey, url } = yield* setUp
        const { consumerUrl: complete } = yield* Fixture.otherListeners({ directPath: false })
        const sql = yield* PgClient.PgClient
        const { consumer: requests } = (yield* Measures).http
        for (const listener of [url, complete]) {
          const { accessToken } = yield* usher.guest()
          const asGuest = asConsumer(publishableKey, accessToken)
          const { inFlight } = requests
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`lock table journal in share mode`
              const client = opened(listener, `${head("POST", `/api/queues/${queueId}/enter`, asGuest)}\r\n`)
              yield* until(
                Effect.map(
                  sql`select from pg_locks where relation = 'journal'::regclass and not granted`,
                  ({ length }) => length > 0
                )
              )
              client.destroy()
              yield* until(Effect.sync(() => requests.inFlight === inFlight))
            })
          )
          const status = yield* send(listener, { path: `/api/queues/${queueId}/status`, headers: asGuest })
          assert.strictEqual(status.body.status, "QUEUED")
        }
      }).pipe(Effect.scoped)
    )

    it.effect("a client that has ended its side still gets an answer that is in memory", () =>
      Effect.gen(function* () {
        const { queueId, asGuest, url } = yield* setUp
        const { consumerUrl: complete } = yield* Fixture.otherListeners({ directPath: false })
        const request = `${head("GET", `/api/queues/${queueId}/status`, asGuest, "keep-alive")}\r\n`
        const one = yield* halfClosed(url, request)
        assert.strictEqual(comparable(one), comparable(yield* halfClosed(complete, request)))
      }).pipe(Effect.scoped)
    )
  })
})

const file = (name: string): string => fileURLToPath(new URL(`../server/tls/${name}`, import.meta.url))
const tls = { tlsCertFile: file("certificate.pem"), tlsKeyFile: file("key.pem") }

/** Sends a GET over TLS that trusts only the tests' certificate. */
const secureGet = (url: URL, headers: Record<string, string>) =>
  Effect.callback<{ readonly status: number | undefined; readonly transport: string | undefined }>((resume) => {
    const outgoing = request(url, { ca: readFileSync(tls.tlsCertFile), agent: false, headers }, (response) => {
      const { statusCode: status, headers } = response
      response.resume()
      resume(Effect.succeed({ status, transport: headers["strict-transport-security"] }))
    })
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end()
  })

/** Opens a connection and sends the text. */
const opened = (url: string, text: string): Socket => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text))
  socket.on("error", () => {})
  return socket
}

/** Returns when the condition holds. */
const until = <E>(condition: Effect.Effect<boolean, E>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("10 millis") })

/** A connection that does not read until it is asked to. */
const slowReader = (url: string) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const { hostname, port } = new URL(url)
      const socket = connect({ host: hostname, port: Number(port) }, () => resume(Effect.succeed(socket)))
      socket.pause()
    }),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.map((socket) => ({
      write: (text: string) => void socket.write(text),
      readUntil: (end: string) =>
        Effect.callback<string>((resume) => {
          let answer = ""
          socket.setEncoding("utf8")
          socket.on("data", (chunk: string) => {
            answer += chunk
            if (answer.includes(end)) resume(Effect.succeed(answer))
          })
          socket.resume()
        })
    }))
  )

/** Sends the text and ends the client's side at once. */
const halfClosed = (url: string, text: string): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(url)
    let answer = ""
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => socket.end(text))
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => (answer += chunk))
    socket.on("error", () => {})
    socket.on("end", () => socket.destroy())
    socket.on("close", () => resume(Effect.succeed(answer)))
  })
