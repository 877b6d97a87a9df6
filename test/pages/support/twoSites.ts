/** A shop behind a gate and the room of its queue on two sites, over HTTPS, as browsers reach them. */
import { Effect } from "effect"
import { createServer, request, type IncomingMessage, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { connect, type Socket } from "node:net"
import { createGate } from "../../../src/client/nodeGate.ts"
import { aGate } from "../../http/support/gateFixture.ts"
import { Usher } from "../../http/support/usherFixture.ts"
import { certificateOf, listening } from "../../support/tlsHost.ts"

export const shopHost = "shop.example"
export const roomHost = "room.test"

/** A server with a certificate of its own for the host. */
const secured = (host: string, listener: RequestListener) =>
  Effect.flatMap(certificateOf(host), (certificate) => listening(createTlsServer(certificate, listener)))

/** Hands every request on to Usher, and says that it came by HTTPS. */
const inFrontOf =
  (usherUrl: string): RequestListener =>
  (incoming: IncomingMessage, outgoing) => {
    const headers = { ...incoming.headers, "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" }
    const options = { method: incoming.method!, headers, agent: false as const }
    const onward = request(new URL(incoming.url!, usherUrl), options, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    outgoing.on("close", () => onward.destroy())
    incoming.pipe(onward)
  }

/** A proxy that knows where both hosts are. */
const resolving = Effect.fnUntraced(function* (ports: { readonly [host: string]: number }) {
  const tunnels = new Set<Socket>()
  const proxy = createServer().on("connect", ({ url = "" }: IncomingMessage, client: Socket) => {
    const port = ports[url.split(":")[0]!]
    if (port === undefined) return void client.end("HTTP/1.1 502 Unknown\r\n\r\n")
    const onward = connect(port, "127.0.0.1", () => client.write("HTTP/1.1 200 Connected\r\n\r\n"))
    for (const socket of [client, onward]) {
      tunnels.add(socket)
      socket.on("error", () => {}).on("close", () => tunnels.delete(socket))
    }
    client.pipe(onward).pipe(client)
  })
  const port = yield* listening(proxy)
  yield* Effect.addFinalizer(() => Effect.sync(() => tunnels.forEach((socket) => socket.destroy())))
  return `http://127.0.0.1:${port}`
})

/** Opens both. A browser reaches them with these options of its context. */
export const opening = Effect.gen(function* () {
  const { consumerUrl } = yield* Usher
  const made = yield* aGate({ hosts: [shopHost] }, { insideLimit: 1 })
  const gate = createGate({ url: consumerUrl, gateId: made.id, key: made.key, patienceMillis: 10_000 })
  const shop = yield* secured(shopHost, (incoming, outgoing) => {
    void gate(incoming, outgoing).then((hasAnswered) => {
      if (!hasAnswered) outgoing.setHeader("content-type", "text/html").end("<title>Shop</title><h1>Checkout</h1>")
    })
  })
  const room = yield* secured(roomHost, inFrontOf(consumerUrl))
  const server = yield* resolving({ [shopHost]: shop, [roomHost]: room })
  const browserOptions = { proxy: { server }, ignoreHTTPSErrors: true }
  const letIn = (insideLimit: number) => made.byBrand("PUT", `/queues/${made.queueId}`, { insideLimit })
  return { browserOptions, letIn }
})
