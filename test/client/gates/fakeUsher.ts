// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** An Usher of one gate, as far as gates in the field call it. It can fill up, and be cut off. */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { claims, grant, keySet } from "./vectorParts.ts"

const gateKey = "gk_live_key-of-the-gate"

/** Opens it on a port of its own. Its gate protects `/checkout`, and `/open` with another fail mode. */
export const openFakeUsher = async () => {
  const state = {
    /** New visitors get a place in the line. */
    isFull: false,
    /** It takes connections and answers nothing. */
    isAway: false,
    ended: [] as Array<string>,
    renewed: [] as Array<string>,
    /** What the next calls of an operation get instead of an answer. */
    silences: {} as { [operation: string]: Array<"late" | "break" | "error"> | undefined },
    /** How each call of `pass` was named. */
    attempts: [] as Array<string>,
    /** What the gate has said of itself last. */
    report: undefined as string | undefined,
    /** How often each operation was called. */
    calls: {} as { [operation: string]: number | undefined }
  }
  let made = 0
  /** The answers of `pass` by the call's name: a repeated call gets its answer again. */
  const passes: { [attempt: string]: object } = {}
  const newGrant = () => grant({ jti: `${claims.distributionId}.${++made}`, exp: Math.floor(Date.now() / 1000) + 600 })
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const roomUrl = `${url}/e/drop`

  const record = () => ({
    organizationId: claims.organizationId,
    version: "first",
    mode: "live",
    hosts: ["127.0.0.1"],
    rules: [
      { when: { pathPrefix: "/checkout" }, then: { queueId: "queue-1" } },
      { when: { pathPrefix: "/open" }, then: { queueId: "queue-1" }, failMode: "open" }
    ],
    failMode: "closed",
    cookie: {},
    returnPath: "/.usher/return",
    queues: {
      "queue-1": { experienceId: "drop", engaged: state.isFull, roomUrl, admissionRenewal: { idleSeconds: 1 } }
    }
  })

  const answers: { readonly [operation: string]: (body: any, attempt: string) => object } = {
    "GET /.well-known/jwks.json": () => keySet,
    "GET /api/gates/gate-1": record,
    "GET /api/gates/gate-1/ended": () => ({
      data: state.ended.map((jti) => ({ jti, expiresAt: null })),
      until: new Date().toISOString(),
      next: null
    }),
    "POST /api/queues/queue-1/pass": (_, attempt) =>
      (passes[attempt] ??= state.isFull
        ? { status: "QUEUED", roomUrl }
        : { status: "GRANTED", admissionGrant: newGrant() }),
    "POST /api/queues/queue-1/renew": ({ grants }: { readonly grants: ReadonlyArray<string> }) => {
      state.renewed.push(...grants)
      return { renewed: grants.length, results: grants.map((jti) => ({ jti, expiresAt: null })) }
    }
  }

  const answer = async (incoming: IncomingMessage, outgoing: import("node:http").ServerResponse) => {
    if (state.isAway) return
    const operation = `${incoming.method} ${incoming.url!.split("?")[0]}`
    state.calls[operation] = (state.calls[operation] ?? 0) + 1
    const body = await text(incoming)
    const attempt = String(incoming.headers["idempotency-key"])
    if (operation.endsWith("/pass")) state.attempts.push(attempt)
    if (operation.endsWith("/ended")) state.report = String(incoming.headers["usher-gate"])
    const silence = state.silences[operation]?.shift()
    if (silence === "late") return
    if (silence === "break") return void incoming.socket.destroy()
    if (silence === "error") return void outgoing.writeHead(503).end()
    const isOpen = operation.includes("well-known") || incoming.headers.authorization === `Bearer ${gateKey}`
    const answering = answers[operation]
    const status = isOpen ? (answering === undefined ? 404 : 200) : 401
    const found = status === 200 ? answering!(body === "" ? null : JSON.parse(body), attempt) : { error: "No" }
    const etag = `"${JSON.stringify(found).length}-${state.isFull}"`
    const isSame = incoming.method === "GET" && incoming.headers["if-none-match"] === etag
    outgoing.writeHead(isSame ? 304 : status, { "content-type": "application/json", etag })
    outgoing.end(isSame ? undefined : JSON.stringify(found))
  }

  return {
    url,
    gateId: "gate-1",
    key: gateKey,
    state,
    newGrant,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((closed) => void server.close(() => closed()))
    }
  }
}

export type FakeUsher = Awaited<ReturnType<typeof openFakeUsher>>
