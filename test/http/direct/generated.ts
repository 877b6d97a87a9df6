/**
 * Generated requests to the operations of the direct path, valid and odd, and the comparison of two listeners in front
 * of the same services. Each request goes to one listener for one world, and to the other for another world, because
 * most operations change something.
 */
import { randomInt } from "node:crypto"
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import { connect } from "node:net"
import * as Server from "../../../src/http/server/Server.ts"
import { inputs, type Input } from "../matrix/inputs.ts"
import { type Operation, operations } from "../matrix/operations.ts"
import { makeWorld, type World } from "../matrix/world.ts"
import { asConsumer, asServer } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"

export const services = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

const isOfSessions = ({ name }: Operation): boolean => name.includes("/auth/") || name.includes("/sessions")

/** The operations of consumers. Those of sessions come last, because they may end the session. */
export const covered = operations
  .filter(
    ({ api, name, requirement }) =>
      api === "consumer" &&
      (requirement.some((all) => all.includes("accessToken")) || name.includes("/auth/")) &&
      name !== "POST /api/auth/logout" &&
      inputs[name] !== undefined
  )
  .toSorted((a, b) => Number(isOfSessions(a)) - Number(isOfSessions(b)))

/** A generator of pseudo-random whole numbers from 0 to below its argument (mulberry32). */
export const dice = (seed: number) => (below: number) => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) % below
}

interface Draft {
  method: string
  path: string
  version: string
  headers: Array<readonly [name: string, value: string]>
  body: string
}

/** Changes a draft. Both worlds' drafts get the same change. */
type Change = (draft: Draft, world: World) => void

const header =
  (name: string, value: string): Change =>
  ({ headers }) =>
    void headers.push([name, value])

const replaced =
  (name: string, value: (before: string, world: World) => string): Change =>
  (draft, world) => {
    draft.headers = draft.headers.map(([at, before]) => [at, at === name ? value(before, world) : before])
  }

const removed =
  (name: string): Change =>
  (draft) => {
    draft.headers = draft.headers.filter(([at]) => at !== name)
  }

const changes: ReadonlyArray<Change> = [
  () => {},
  () => {},
  header("origin", "https://shop.example"),
  header("x-request-id", "my-request.1"),
  header("x-request-id", "not valid"),
  header("x-forwarded-proto", "http"),
  header("x-publishable-key", "pk_live_twice"),
  header("authorization", "Bearer second"),
  header("accept-encoding", "gzip, br"),
  header("last-event-id", "12"),
  header("content-type", "text/plain"),
  header("content-type", "application/json; charset=utf-8"),
  header("idempotency-key", "k"),
  removed("x-publishable-key"),
  removed("authorization"),
  replaced("authorization", (before) => before.replace("Bearer ", "bearer ")),
  replaced("authorization", (before) => before.replace("Bearer ", "Bearer  ")),
  // Twice makes no token good again.
  replaced("authorization", (before) => before.slice(0, -1)),
  replaced("authorization", (_, { sides }) => `Bearer ${sides.foreign.accessToken}`),
  replaced("authorization", (_, { sides }) => `Bearer ${sides.own.refreshToken}`),
  replaced("authorization", (_, { sides }) => asServer(sides.own.secretKey).authorization),
  replaced("x-publishable-key", (_, { sides }) => sides.foreign.publishableKey),
  replaced("x-publishable-key", (_, { sides }) => sides.own.secretKey),
  replaced("x-publishable-key", () => "pk_live_unknown"),
  (draft) => (draft.path += "?x=1"),
  (draft) => (draft.path += "/"),
  (draft) => (draft.path = draft.path.toUpperCase().replace("/API", "/api")),
  (draft) => (draft.path = draft.path.replace("/api/", "/api//")),
  (draft) => (draft.path = draft.path.replace(/[0-9a-f]{8}-[^/]*/, (id) => id.toUpperCase())),
  (draft) => (draft.path = draft.path.replace(/[0-9a-f]{8}-[^/]*/, "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a")),
  (draft) => (draft.path = draft.path.replace(/[0-9a-f]{8}-[^/]*/, "%30199b2a1")),
  (draft) => (draft.path = draft.path.replace(/[0-9a-f]{8}-[^/]*/, "")),
  (draft) => (draft.method = "HEAD"),
  (draft) => (draft.method = "OPTIONS"),
  (draft) => (draft.method = "PUT"),
  (draft) => (draft.method = draft.method === "GET" ? "POST" : "GET"),
  (draft) => (draft.version = "1.0"),
  (draft) => (draft.body = ""),
  (draft) => (draft.body = "{"),
  (draft) => (draft.body = "null"),
  (draft) => (draft.body = "[]"),
  (draft) => (draft.body = `{"__proto__":{},"more":1,${draft.body.slice(1)}`),
  (draft) => (draft.body = draft.body.replace(/:"[^"]*"/, ":7")),
  (draft) => (draft.body = draft.body.replace(/:"[^"]*"/, ':"\\u0000"')),
  (draft) => (draft.body = draft.body.padEnd(17_000, " ")),
  (draft) => (draft.body = `\uFEFF${draft.body}`)
]

/** Returns an address of its own for each request, so that no limit by address is reached. */
const anAddress = (): string => `10.${[0, 0, 0].map(() => randomInt(256)).join(".")}`

const draftOf = (
  { method, path, requirement }: Operation,
  { params = {}, query, body }: Input,
  world: World
): Draft => {
  const { publishableKey, accessToken } = world.sides.own
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name]!)
  const isSession = !requirement.some((all) => all.includes("accessToken"))
  const credentials = isSession ? { "x-publishable-key": publishableKey } : asConsumer(publishableKey, accessToken)
  return {
    method,
    path: query === undefined ? filled : `${filled}?${query}`,
    version: "1.1",
    headers: [...Object.entries(credentials), ["x-forwarded-for", anAddress()], ["x-forwarded-proto", "https"]],
    body: body === undefined ? "" : JSON.stringify(body)
  }
}

const render = ({ method, path, version, headers, body }: Draft, chunked: boolean): string => {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  const bytes = Buffer.byteLength(body)
  const head = `${method} ${path} HTTP/${version}\r\nHost: x\r\nConnection: close\r\n${lines}`
  if (body === "") return `${head}\r\n`
  return chunked
    ? `${head}Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    : `${head}Content-Length: ${bytes}\r\n\r\n${body}`
}

/** Sends the pieces. Returns what comes back, of a stream only the beginning. */
export const exchange = (url: string, pieces: ReadonlyArray<string | Buffer>, pauses = false): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(url)
    let answer = ""
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      answer += chunk
      if (answer.includes("text/event-stream") && answer.includes("\ndata: ")) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(answer)))
    const next = (index: number) => {
      if (index === pieces.length) return
      socket.write(pieces[index]!, () => (pauses ? setImmediate(next, index + 1) : next(index + 1)))
    }
    socket.on("connect", () => next(0))
  })

/** Replaces what differs between two worlds and two moments. */
export const comparable = (answer: string): string =>
  answer
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "ID")
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, "TOKEN")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "INSTANT")
    .replace(/"(bidderHandle|confirmationCode|exchangeCode|entryId|seedCommitment)":"[^"]*"/g, '"$1":"…"')
    .replace(/"(keyPrefix|keySignature|nonce|salt|signature)":"[0-9a-f]*"/g, '"$1":"…"')
    .replace(/"expiresAt":\d+/g, '"expiresAt"')
    .replace(/^Date: .*$/gm, "Date")
    .replace(/^(x-ratelimit-(?:remaining|reset)|retry-after): \d+\r$/gm, "$1")
    // The two listeners refuse one after the other, perhaps in different seconds.
    .replace(/("retryAfter"):\d+/, "$1")
    .replace(/^content-length: \d+\r$/gm, "content-length")
    .replace(/\nretry: \d+/g, "\nretry")
    .replace(/"received":"[^"]*"/g, '"received"')
    // Each listener gets a client address of its own, and a refused header is told with the others.
    .replace(/"x-forwarded-for":"[^"]*"/g, '"x-forwarded-for"')

/** A request that two listeners answered differently. */
export interface Difference {
  readonly request: string
  readonly direct: string
  readonly complete: string
}

/** Starts the listener without the direct path. Returns its address. */
export const completeListener = Effect.map(
  Fixture.otherListeners({ directPath: false }),
  ({ consumerUrl }) => consumerUrl
)

/**
 * Sends `rounds` generated requests to each operation, on both listeners. Returns how many were sent, by status, and
 * the differences.
 */
export const compare = Effect.fnUntraced(function* (complete: string, seed: number, rounds: number) {
  const { consumerUrl: direct } = yield* Server.Listeners
  const roll = dice(seed)
  const worlds = [yield* makeWorld, yield* makeWorld] as const
  const statuses = new Map<string, number>()
  const differences: Array<Difference> = []
  for (const operation of covered) {
    const make = (world: World) =>
      Effect.map(inputs[operation.name]!(world.sides.own, world), (input) => ({ input, world }))
    const [one, other] = yield* Effect.all([make(worlds[0]), make(worlds[1])])
    for (let round = 0; round < rounds; round++) {
      const chosen = round === 0 ? [] : [changes[roll(changes.length)]!, changes[roll(changes.length)]!]
      const chunked = roll(8) === 0
      const rendered = ({ input, world }: typeof one) => {
        const draft = draftOf(operation, input, world)
        for (const change of chosen) change(draft, world)
        return render(draft, chunked)
      }
      const [request, otherRequest] = [rendered(one), rendered(other)]
      const a = comparable(yield* exchange(direct, [request]))
      const b = comparable(yield* exchange(complete, [otherRequest]))
      const status = a.slice(9, 12)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (a !== b) differences.push({ request, direct: a, complete: b })
    }
  }
  return { statuses, differences }
})
