/** Posts to a real receiver on loopback, which must never see a request that may not reach it. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { isPublic } from "../../../src/delivery/webhook/AllowedTargets.ts"
import {
  answerBytesMax,
  attemptMillisMax,
  type Resolver,
  WebhookClient
} from "../../../src/delivery/webhook/WebhookClient.ts"
import { isStorable } from "../../../src/domain/values/Text.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { inwardAnswers, tricks } from "./addressTricks.ts"

const loopback = [IpNetwork.fromStringUnsafe("127.0.0.0/8")]

interface Receiver {
  readonly port: number
  readonly seen: () => number
  readonly connections: () => number
  readonly server: Server
}

/** Starts a receiver. Returns its port, and the numbers of requests and of connections that it has seen. */
const aReceiver = (respond: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.callback<Receiver>((resume) => {
      let requests = 0
      let connections = 0
      const server = createServer((request, response) => {
        requests++
        request.resume().on("end", () => respond(request, response))
      })
      server.on("connection", () => connections++)
      server.listen(0, () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, seen: () => requests, connections: () => connections, server }))
      })
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )

const aClient = (options: { readonly networks?: typeof loopback; readonly resolve?: Resolver } = {}) => {
  const client = options.resolve === undefined ? WebhookClient.layer : WebhookClient.layerWith(options.resolve)
  const settings = Settings.layerTest({ webhookNetworks: options.networks ?? [] })
  return Effect.map(Layer.build(Layer.provide(client, settings)), (services) => Context.get(services, WebhookClient))
}

/** Resolves every name to these addresses, one answer after another. */
const resolving = (...answers: ReadonlyArray<ReadonlyArray<string>>): Resolver => {
  let asked = 0
  return (_, __, answer) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)]!
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    )
  }
}

const publicAddresses = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"]

describe("A webhook's request", () => {
  it.effect("never reaches an inward address, however its URL writes it", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => response.end())
      const all = tricks(receiver.port)
      assert.isAtLeast(new Set(all.map(([, url]) => url)).size, 90)
      for (const client of [yield* aClient(), yield* aClient({ resolve: resolving(["127.0.0.1"]) })]) {
        for (const [trick, url] of all) {
          for (const tried of [url, url.replace("https:", "http:")]) {
            const { statusCode, body } = yield* client.post(tried, {}, "{}")
            assert.isNull(statusCode, `${trick}: ${tried}`)
            // The system's resolver does not know every name.
            assert.match(body, /^The address could not be reached( \(ENOTFOUND\))?$/, `${trick}: ${tried}`)
          }
        }
      }
      assert.strictEqual(receiver.connections(), 0)
    })
  )

  it.effect("never reaches a name that resolves to an inward address, alone or beside a public one", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => response.end())
      for (const addresses of inwardAnswers) {
        const client = yield* aClient({ resolve: resolving(addresses) })
        const attempt = yield* client.post(`https://shop.example:${receiver.port}/`, {}, "{}")
        assert.isNull(attempt.statusCode, addresses.join(" "))
        assert.strictEqual(attempt.body, "The address could not be reached")
      }
      assert.strictEqual(receiver.connections(), 0)
    })
  )

  it.effect("checks the answer of each connection, so a name that moves inward reaches nothing", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => response.writeHead(204, { connection: "close" }).end())
      // The first answer is in a network of the operator's, the next one is not.
      const network = [IpNetwork.fromStringUnsafe("127.0.0.1/32")]
      const client = yield* aClient({ networks: network, resolve: resolving(["127.0.0.1"], ["127.0.0.2"], ["::1"]) })
      const url = `https://moving.example:${receiver.port}/`
      // The server speaks no TLS, so nothing arrives; the connection does.
      yield* client.post(url, {}, "{}")
      assert.strictEqual(receiver.connections(), 1)
      for (const _ of [1, 2]) yield* client.post(url, {}, "{}")
      assert.strictEqual(receiver.connections(), 1)
    })
  )

  it.effect("resolves once a connection, so an answer that changes reaches nothing", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => response.end())
      let asked = 0
      const inner = resolving(["127.0.0.1"])
      const client = yield* aClient({
        resolve: (host, options, answer) => {
          asked++
          inner(host, options, answer)
        }
      })
      assert.isUndefined(client.problemOf(`https://rebind.example:${receiver.port}/`))
      yield* client.post(`https://rebind.example:${receiver.port}/`, {}, "{}")
      assert.strictEqual(asked, 1)
      assert.strictEqual(receiver.seen(), 0)
    })
  )

  it.effect("follows no redirect, whatever its status and its target", () =>
    Effect.gen(function* () {
      const target = yield* aReceiver((_, response) => response.end())
      for (const status of [301, 302, 303, 307, 308]) {
        for (const [, location] of tricks(target.port)) {
          const receiver = yield* aReceiver((_, response) =>
            response.writeHead(status, { location: encodeURI(location).trim() }).end()
          )
          const client = yield* aClient({ networks: loopback })
          const attempt = yield* client.post(`http://127.0.0.1:${receiver.port}/`, {}, "{}")
          assert.deepStrictEqual([attempt.statusCode, receiver.seen()], [status, 1])
          if (status !== 302) break
        }
      }
      assert.strictEqual(target.connections(), 0)
    })
  )

  it.effect("reads the beginning of an answer, and no more", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => {
        const write = () => {
          while (response.write("x".repeat(10_000)));
          response.once("drain", write)
        }
        write()
      })
      const client = yield* aClient({ networks: loopback })
      const attempt = yield* client.post(`http://127.0.0.1:${receiver.port}/`, {}, "{}")
      assert.deepStrictEqual([attempt.statusCode, attempt.body.length], [200, answerBytesMax])
    })
  )

  it.live("is answered by the status alone: a body that stays open fails nothing", () =>
    Effect.gen(function* () {
      const client = yield* aClient({ networks: loopback })
      const answers = [
        [200, "accepted"],
        [202, ""],
        [410, "gone"],
        [500, "sorry"],
        [302, "€"]
      ] as const
      const check = Effect.fnUntraced(function* ([status, part]: (typeof answers)[number]) {
        const open = yield* aReceiver((_, response) => {
          response.writeHead(status, { "content-length": "1000" }).flushHeaders()
          response.write(part)
        })
        const attempt = yield* client.post(`http://127.0.0.1:${open.port}/`, {}, "{}")
        assert.deepStrictEqual([attempt.statusCode, attempt.body], [status, part])
        assert.isBelow(attempt.durationMillis, attemptMillisMax)
      })
      yield* Effect.forEach(answers, check, { concurrency: "unbounded" })
    })
  )

  it.effect("reports text that the database can store, whatever the answer's bytes", () =>
    Effect.gen(function* () {
      const client = yield* aClient({ networks: loopback })
      for (const bytes of [
        Buffer.from("ok\u0000"),
        Buffer.from([0xff, 0xfe, 0x00, 0x41]),
        Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from("€".repeat(400)),
        Buffer.from("\u001b[31mred\u0000\u0000")
      ]) {
        const receiver = yield* aReceiver((_, response) => response.end(bytes))
        const { statusCode, body } = yield* client.post(`http://127.0.0.1:${receiver.port}/`, {}, "{}")
        assert.strictEqual(statusCode, 200)
        assert.isTrue(isStorable(body) && Buffer.byteLength(body) > 0, body)
      }
    })
  )

  it.effect("reports a receiver that hangs up, and the wait that one asks for", () =>
    Effect.gen(function* () {
      const client = yield* aClient({ networks: loopback })
      const rude = yield* aReceiver((request) => request.socket.destroy())
      assert.isNull((yield* client.post(`http://127.0.0.1:${rude.port}/`, {}, "{}")).statusCode)
      const busy = yield* aReceiver((_, response) => response.writeHead(503, { "retry-after": "120" }).end("later"))
      const attempt = yield* client.post(`http://127.0.0.1:${busy.port}/`, {}, "{}")
      assert.deepInclude(attempt, { statusCode: 503, body: "later", retryAfterMillis: 120_000 })
    })
  )

  it.effect("needs https, a name, no user, and port 443 or one from 1024 on", () =>
    Effect.gen(function* () {
      const { problemOf } = yield* aClient({ networks: loopback })
      for (const url of ["https://shop.example/hooks?a=1", "https://shop.example:8443/", "http://127.0.0.1:8080/"]) {
        assert.isUndefined(problemOf(url), url)
      }
      for (const url of [
        "http://shop.example/",
        "ftp://shop.example/",
        "https://user@shop.example/",
        "https://:secret@shop.example/",
        "https://shop.example:22/",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "shop.example",
        ""
      ]) {
        assert.isDefined(problemOf(url), url)
      }
    })
  )
})

describe("An address", () => {
  it("is public if the Internet routes it", () => {
    for (const address of publicAddresses) assert.isTrue(isPublic(address), address)
    for (const address of ["fe80::1%eth0", "localhost", "", "1.2.3", "::ffff:8.8.8.8"]) {
      assert.isFalse(isPublic(address), address)
    }
  })
})
