/** Posts through a real proxy on loopback, which alone knows where the host of a webhook is. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import { createServer, type IncomingHttpHeaders, request } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { connect, type Socket } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { WebhookClient } from "../../../src/delivery/webhook/WebhookClient.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { certificateOf, listening } from "../../support/tlsHost.ts"

const host = "shop.example"

/** A shop with a certificate for its name, which this process trusts until the scope ends. */
const aShop = Effect.gen(function* () {
  const { cert, key } = yield* certificateOf(host)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const trusted = getCACertificates("default")
      setDefaultCACertificates([...trusted, cert])
      return trusted
    }),
    (trusted) => Effect.sync(() => setDefaultCACertificates(trusted))
  )
  const bodies: Array<string> = []
  const server = createTlsServer({ cert, key }, (request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
    request.on("end", () => {
      bodies.push(body)
      response.writeHead(204).end()
    })
  })
  return { port: yield* listening(server), bodies }
})

/** A proxy that resolves every host to loopback, unless it refuses. It records what it is asked for. */
const aProxy = Effect.fnUntraced(function* (refusal?: number) {
  const asked: Array<string> = []
  const credentials: Array<string | undefined> = []
  const tunnels = new Set<Socket>()
  const note = (method: string, target: string, headers: IncomingHttpHeaders) => {
    asked.push(`${method} ${target}`)
    credentials.push(headers["proxy-authorization"])
  }
  const server = createServer((incoming, response) => {
    note(incoming.method!, incoming.url!, incoming.headers)
    const { port, pathname } = new URL(incoming.url!)
    const onward = request({ port, path: pathname, method: "POST", headers: { host: incoming.headers.host! } })
    onward.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode!)))
    incoming.pipe(onward)
  })
  server.on("connect", ({ url, headers }, client: Socket) => {
    note("CONNECT", url!, headers)
    if (refusal !== undefined) {
      client.end(`HTTP/1.1 ${refusal} Refused\r\n\r\n`)
      return
    }
    const onward = connect(Number(url!.split(":")[1]), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n")
      client.pipe(onward).pipe(client)
    })
    for (const socket of [client, onward]) tunnels.add(socket.on("error", () => socket.destroy()))
  })
  const port = yield* listening(server)
  yield* Effect.addFinalizer(() => Effect.sync(() => tunnels.forEach((socket) => socket.destroy())))
  return { url: `http://usher:pass%20word@127.0.0.1:${port}`, asked, credentials }
})

const aClient = (proxyUrl: string) => {
  const settings = Settings.layerTest({
    webhookNetworks: [IpNetwork.fromStringUnsafe("127.0.0.0/8")],
    webhookProxyUrl: Option.some(Redacted.make(proxyUrl))
  })
  return Effect.map(Layer.build(Layer.provide(WebhookClient.layer, settings)), (services) =>
    Context.get(services, WebhookClient)
  )
}

describe("With WEBHOOK_PROXY_URL, a webhook's request", () => {
  it.effect("goes through a tunnel of the proxy, to a name that only the proxy resolves", () =>
    Effect.gen(function* () {
      const [shop, proxy] = [yield* aShop, yield* aProxy()]
      const client = yield* aClient(proxy.url)
      for (const body of ['{"n":1}', '{"n":2}']) {
        const attempt = yield* client.post(`https://${host}:${shop.port}/hooks`, {}, body)
        assert.strictEqual(attempt.statusCode, 204, attempt.body)
      }
      assert.deepStrictEqual(shop.bodies, ['{"n":1}', '{"n":2}'])
      // The second request uses the tunnel of the first one.
      assert.deepStrictEqual(proxy.asked, [`CONNECT ${host}:${shop.port}`])
      assert.deepStrictEqual(proxy.credentials, [`Basic ${Buffer.from("usher:pass word").toString("base64")}`])
    })
  )

  it.effect("trusts no other certificate because of the proxy", () =>
    Effect.gen(function* () {
      const [shop, proxy] = [yield* aShop, yield* aProxy()]
      const client = yield* aClient(proxy.url)
      const attempt = yield* client.post(`https://other.example:${shop.port}/`, {}, "{}")
      assert.deepInclude(attempt, { statusCode: null, body: "The address could not be reached" })
      assert.deepStrictEqual(shop.bodies, [])
    })
  )

  it.effect("reaches nothing if the proxy refuses, and does not say why", () =>
    Effect.gen(function* () {
      const [shop, proxy] = [yield* aShop, yield* aProxy(403)]
      const client = yield* aClient(proxy.url)
      const attempt = yield* client.post(`https://${host}:${shop.port}/`, {}, "{}")
      assert.deepInclude(attempt, { statusCode: null, body: "The address could not be reached" })
      assert.deepStrictEqual(shop.bodies, [])
    })
  )

  it.effect("is still refused for its URL, before the proxy is asked", () =>
    Effect.gen(function* () {
      const proxy = yield* aProxy()
      const client = yield* aClient(proxy.url)
      for (const url of [`http://${host}/`, `https://user@${host}/`, "https://10.0.0.1/", `https://${host}:22/`]) {
        assert.isDefined(client.problemOf(url), url)
        assert.isNull((yield* client.post(url, {}, "{}")).statusCode, url)
      }
      assert.deepStrictEqual(proxy.asked, [])
    })
  )

  it.effect("over plain HTTP, to a network of the operator, goes to the proxy too", () =>
    Effect.gen(function* () {
      const proxy = yield* aProxy()
      const port = yield* listening(createServer((_, response) => response.writeHead(202).end()))
      const client = yield* aClient(proxy.url)
      const attempt = yield* client.post(`http://127.0.0.1:${port}/hooks`, {}, "{}")
      assert.strictEqual(attempt.statusCode, 202, attempt.body)
      assert.deepStrictEqual(proxy.asked, [`POST http://127.0.0.1:${port}/hooks`])
    })
  )
})
