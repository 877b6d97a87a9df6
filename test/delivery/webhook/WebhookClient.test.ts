/** Posts to a real receiver on loopback, which must never see a request that may not reach it. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { isPublic } from "../../../src/delivery/webhook/PublicAddress.ts"
import { answerBytesMax, type Resolver, WebhookClient } from "../../../src/delivery/webhook/WebhookClient.ts"
import { Settings } from "../../../src/settings/Settings.ts"

const loopback = [IpNetwork.fromStringUnsafe("127.0.0.0/8")]

/** Starts a receiver. Returns its port and the number of requests that it has seen. */
const aReceiver = (respond: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly seen: () => number }>((resume) => {
      let requests = 0
      const server = createServer((request, response) => {
        requests++
        request.resume().on("end", () => respond(request, response))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, seen: () => requests, server }))
      })
    }) as Effect.Effect<{ port: number; seen: () => number; server: ReturnType<typeof createServer> }>,
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

/** Forms of addresses on this machine and in private networks. */
const inwardHosts = `
  127.0.0.1 127.1 0x7f.1 0177.0.0.1 2130706433 0x7f000001 017700000001 127.0.1 0 0.0.0.0 10.0.0.1 10.1
  172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 3232235521 169.254.169.254 2852039166 0xa9fea9fe
  100.64.0.1 192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
  255.255.255.255 192.88.99.1 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
  [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001::7f00:1] [fe80::1] [fc00::1]
  [fd12:3456::1] [ff02::1] [2001:db8::1] [100::1] [3fff::1] [5f00::1] [fec0::1] [0:0:0:0:0:ffff:a00:1]
  ①②⑦.⓪.⓪.① 127。0。0。1 １２７.0.0.1
`
  .trim()
  .split(/\s+/)

const publicAddresses = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"]

describe("A webhook's request", () => {
  it.effect("never reaches an inward address, however its URL writes it", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => response.end())
      const client = yield* aClient()
      for (const host of inwardHosts) {
        for (const url of [`https://${host}:${receiver.port}/`, `http://${host}:${receiver.port}/`]) {
          assert.isDefined(client.problemOf(url), url)
          const attempt = yield* client.post(url, {}, "{}")
          assert.isNull(attempt.statusCode, url)
          assert.strictEqual(attempt.body, "The address could not be reached")
        }
      }
      assert.strictEqual(receiver.seen(), 0)
    })
  )

  it.effect("never reaches a name that resolves to an inward address, alone or beside a public one", () =>
    Effect.gen(function* () {
      const receiver = yield* aReceiver((_, response) => response.end())
      for (const addresses of [
        ["127.0.0.1"],
        ["8.8.8.8", "127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["::1"],
        ["0.0.0.0"],
        []
      ]) {
        const client = yield* aClient({ resolve: resolving(addresses) })
        const attempt = yield* client.post(`https://shop.example:${receiver.port}/`, {}, "{}")
        assert.isNull(attempt.statusCode)
      }
      assert.strictEqual(receiver.seen(), 0)
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

  it.effect("does not follow a redirect", () =>
    Effect.gen(function* () {
      const target = yield* aReceiver((_, response) => response.end())
      const receiver = yield* aReceiver((_, response) =>
        response.writeHead(302, { location: `http://127.0.0.1:${target.port}/` }).end()
      )
      const client = yield* aClient({ networks: loopback })
      const attempt = yield* client.post(`http://127.0.0.1:${receiver.port}/`, {}, "{}")
      assert.deepStrictEqual([attempt.statusCode, target.seen()], [302, 0])
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
