// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** The fixed keys, gates, grants and answers of which the vectors of gates are made. */
import { createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto"
import type { Decision, GateRecord, PassAnswer } from "../../../src/client/gate.ts"
import type { GateRequest } from "../../../src/client/gateRules.ts"

/** One case. What it leaves out is as in a quiet hour: nothing ended, Usher reachable, the clock at `now`. */
export interface Vector {
  readonly name: string
  readonly gate: string
  readonly now?: number
  readonly ended?: ReadonlyArray<string>
  readonly isReachable?: false
  readonly keys?: "former"
  readonly request: GateRequest
  /** Present: the case is of `settle`, else of `decide`. */
  readonly answer?: PassAnswer
  readonly expected: Decision
}

/** A key from a seed of equal bytes, so that the file stays the same. */
const keyOf = (byte: number): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, byte)]),
    format: "der",
    type: "pkcs8"
  })

const publicOf = (key: KeyObject, kid: string) => ({
  ...createPublicKey(key).export({ format: "jwk" }),
  kid,
  alg: "EdDSA",
  use: "sig"
})

export const key = keyOf(1)
export const secondKey = keyOf(2)
export const strangeKey = keyOf(3)

export const keySet = {
  keys: [
    { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "of-another-kind" },
    publicOf(key, "one"),
    publicOf(secondKey, "two")
  ]
}
export const formerKeySet = { keys: [publicOf(strangeKey, "former")] }

export const now = Date.parse("2026-11-22T12:00:00.000Z")

const base64 = (text: string) => Buffer.from(text).toString("base64url")

export const claims = {
  iss: "usher",
  aud: "usher:admission",
  type: "admission",
  jti: "grant-1",
  consumerId: "consumer-1",
  organizationId: "brand",
  mode: "live",
  distributionId: "queue-1",
  distributionType: "QUEUE",
  experienceId: "drop",
  sequenceId: "sequence-1",
  exp: now / 1000 + 600
}

export const grant = (changes: object = {}, by = key, header: object = { alg: "EdDSA", typ: "JWT", kid: "one" }) => {
  const signed = `${base64(JSON.stringify(header))}.${base64(JSON.stringify({ ...claims, ...changes }))}`
  return `${signed}.${sign(null, Buffer.from(signed), by).toString("base64url")}`
}

const room = "https://usher.example.com/e/drop"

const shop: GateRecord = {
  organizationId: "brand",
  hosts: ["shop.example.com", "www.shop.example.com"],
  rules: [
    { name: "health", when: { path: "/health" }, then: "pass" },
    { name: "assets", when: { pathPrefix: "/assets/" }, then: "pass" },
    { name: "machines", when: { header: { name: "X-Machine", value: "let-me" } }, then: "pass" },
    { name: "staff", when: { cookie: "staff" }, then: "pass" },
    { name: "crawlers", when: { crawler: "googlebot" }, then: "pass" },
    { name: "preview", when: { pathPrefix: "/checkout", header: { name: "x-preview" } }, then: "pass" },
    { name: "checkout", when: { pathPrefix: "/checkout" }, then: { queueId: "queue-1" } },
    { name: "cart", when: { path: "/cart", methods: ["POST"] }, then: { queueId: "queue-1" } },
    { name: "tickets", when: { path: "/tickets" }, then: { queueId: "queue-2" }, failMode: "open" },
    { name: "sizes", when: { path: "/größe" }, then: { queueId: "queue-1" } },
    { name: "escaped", when: { pathPrefix: "/a%20b" }, then: { queueId: "queue-1" } },
    { name: "old", when: { path: "/old" }, then: { queueId: "queue-gone" } },
    { name: "old-open", when: { path: "/old-open" }, then: { queueId: "queue-gone" }, failMode: "open" }
  ],
  failMode: "closed",
  cookie: {},
  returnPath: "/.usher/return",
  queues: {
    "queue-1": { experienceId: "drop", engaged: true, roomUrl: room },
    "queue-2": { experienceId: "concert", engaged: false, roomUrl: "https://usher.example.com/e/concert" }
  }
}

const all = [{ when: {}, then: { queueId: "queue-1" } }] as const

/** An open gate whose queue has this state, with a rule of its own for what happens after its end. */
const inState = (state: "scheduled" | "open" | "ended", engaged = true): GateRecord => ({
  ...shop,
  rules: [{ when: { pathPrefix: "/later" }, then: { queueId: "queue-1" }, afterEnd: "pass" }, ...all],
  failMode: "open",
  queues: { "queue-1": { ...shop.queues["queue-1"]!, state, engaged } }
})

export const gates: { readonly [name: string]: GateRecord } = {
  shop,
  open: { ...shop, rules: all, failMode: "open" },
  openButClosed: { ...shop, rules: [{ ...all[0], failMode: "closed" }], failMode: "open" },
  quiet: { ...shop, queues: { ...shop.queues, "queue-1": { ...shop.queues["queue-1"]!, engaged: false } } },
  quietOpen: {
    ...shop,
    rules: all,
    failMode: "open",
    queues: { "queue-1": { ...shop.queues["queue-1"]!, engaged: false } }
  },
  scheduled: inState("scheduled"),
  begun: inState("open"),
  begunQuiet: inState("open", false),
  ended: inState("ended"),
  test: { ...shop, mode: "test" },
  domain: { ...shop, cookie: { name: "inside", domain: "example.com" } },
  folder: { ...shop, cookie: { path: "/checkout" } },
  local: { ...shop, hosts: ["localhost"] },
  roomWithQuery: {
    ...shop,
    queues: { "queue-1": { experienceId: "drop", engaged: true, roomUrl: `${room}?lang=de` } }
  },
  empty: { ...shop, rules: [] }
}

export const cookieName = "__Host-usher-grant-drop"

export const browser = { host: "shop.example.com", accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" }

/** A browser's navigation. */
export const visit = (target = "/checkout", headers: GateRequest["headers"] = {}, method = "GET"): GateRequest => ({
  method,
  target,
  headers: { ...browser, ...headers }
})

export const withCookie = (token: string, name = cookieName) => visit("/checkout", { cookie: `${name}=${token}` })

/** The state of a browser that was sent away, and of the next one. */
export const state = "state-of-this-browser"
export const newState = "state-of-a-new-browser"

/** The form of a room, from the browser that was sent away. `cookie`: what it has otherwise. */
export const post = (token: string, query = "?to=%2Fcheckout", headers: GateRequest["headers"] = {}): GateRequest =>
  postedBy(`__Host-usher-state=${state}`, token, query, headers)

/** The form of a room, with these cookies. */
export const postedBy = (
  cookies: string,
  token = valid,
  query = "?to=%2Fcheckout",
  { cookie, ...headers }: GateRequest["headers"] = {}
): GateRequest => ({
  ...visit(
    `/.usher/return${query}${query === "" ? "?" : "&"}state=${state}`,
    {
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
      cookie: cookie === undefined ? cookies : `${cookies}; ${cookie}`
    },
    "POST"
  ),
  form: `usher_grant=${token}`
})

export const inside = (jti = "grant-1"): Decision => ({ kind: "pass", jti })
export const pass: Decision = { kind: "pass" }
export const closed: Decision = { kind: "closed", retryAfterSeconds: 5 }
export const over: Decision = { kind: "closed", retryAfterSeconds: 60, because: "ended" }
export const wait: Decision = { kind: "wait", roomUrl: room, retryAfterSeconds: 10 }
export const ask: Decision = { kind: "ask", queueId: "queue-1" }

/** To the room, with the way back to this page, each escaped by hand where the test needs it. */
export const toRoom = (
  page = "%2Fcheckout",
  origin = "https%3A%2F%2Fshop.example.com",
  { state = newState, cookie = stateCookie(state) } = {}
): Decision => ({
  kind: "room",
  location: `${room}?return=${origin}%2F.usher%2Freturn%3Fto%3D${page.replaceAll("%", "%25")}%26state%3D${state}`,
  cookie
})

/** The cookie with the state as a gate sets it. Without a state: as it takes it away. */
export const stateCookie = (
  state = "",
  name = "__Host-usher-state",
  rest = "Path=/; HttpOnly; SameSite=None; Secure"
) => `${name}=${state}; ${rest}; Max-Age=${state === "" ? 0 : 86_400}`

/** The cookie as a gate sets it, for ten minutes unless said otherwise. */
export const cookie = (token: string, name = cookieName, rest = "Path=/; HttpOnly; SameSite=Lax; Secure") =>
  `${name}=${token}; ${rest}; Max-Age=600`

export const back = (location: string, setCookie?: string, ended = stateCookie()): Decision =>
  setCookie === undefined ? { kind: "return", location } : { kind: "return", location, cookies: [setCookie, ended] }

/** A case of a group. */
export type Case = readonly [
  name: string,
  request: Vector["request"],
  expected: Vector["expected"],
  rest?: Partial<Vector>
]

export const vectors = (group: string, cases: ReadonlyArray<Case>): ReadonlyArray<Vector> =>
  cases.map(([name, request, expected, rest]) => ({
    name: `${group}: ${name}`,
    gate: "shop",
    request,
    ...rest,
    expected
  }))

export const valid = grant()

/** The three parts of the valid grant. */
export const [head, body, signature] = valid.split(".") as [string, string, string]

export const plain = (headers: Vector["request"]["headers"], method = "GET"): Vector["request"] => ({
  method,
  target: "/checkout",
  headers: { host: "shop.example.com", ...headers }
})
