/**
 * What a gate in front of a site does with a request: a pure function of the gate's record, the published keys, the
 * ended grants, the clock and the request. Reading those, calling Usher and writing answers belong to the runtime.
 */
import { cookiesIn, type FailMode, type GateRequest, type GateRule, pathOf, ruleFor, unescaped } from "./gateRules.ts"
import { type GrantKeys, isSignedBy } from "./grantKeys.ts"
import { type GrantClaims, type Mode, partsOf, problemOf } from "./grantRules.ts"

export { importKeys } from "./grantKeys.ts"
export type { GateRequest } from "./gateRules.ts"

/** The answer of `GET /gates/{gateId}`, as far as the decision needs it. */
export interface GateRecord {
  readonly organizationId: string
  /** Default: live. */
  readonly mode?: Mode
  /** In lower case, without ports. */
  readonly hosts: ReadonlyArray<string>
  readonly rules: ReadonlyArray<GateRule>
  readonly failMode: FailMode
  readonly cookie: { readonly name?: string; readonly domain?: string; readonly path?: string }
  readonly returnPath: string
  readonly queues: { readonly [queueId: string]: GateQueue }
}

interface GateQueue {
  readonly experienceId: string
  /** An Usher of an earlier version does not say. `scheduled`: it has not opened yet. */
  readonly state?: "scheduled" | "open" | "ended"
  readonly engaged: boolean
  readonly roomUrl: string
  /** The decision does not need it: after this time a grant that was not renewed ends. */
  readonly admissionRenewal?: { readonly idleSeconds: number } | null
}

/** What a gate knows when a request arrives. */
export interface Knowledge {
  readonly gate: GateRecord
  readonly keys: GrantKeys
  /** The `jti` of grants that ended before their time. */
  readonly ended: Pick<ReadonlySet<string>, "has">
  readonly isReachable: boolean
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** A random text, new for each request, that names a browser which is sent to the room: 20 to 64 of `A-Za-z0-9_-`. */
  readonly newState: string
}

export type Decision =
  /** To the site. `jti` names the visitor for `renew`; the cookie goes onto the site's answer. */
  | { readonly kind: "pass"; readonly jti?: string; readonly cookie?: string }
  /** Call `pass` of this queue, then `settle`. */
  | { readonly kind: "ask"; readonly queueId: string }
  /** A 303 from the return path to the page that the visitor wanted. */
  | { readonly kind: "return"; readonly location: string; readonly cookies?: ReadonlyArray<string> }
  /** A 303 to the room. The cookie names the browser. */
  | { readonly kind: "room"; readonly location: string; readonly cookie: string }
  /** A 429 with the room's address. */
  | { readonly kind: "wait"; readonly roomUrl: string; readonly retryAfterSeconds: number }
  /** A 503 that tries again by itself. `because`: the queue has ended; absent: Usher is out of reach or refuses. */
  | { readonly kind: "closed"; readonly retryAfterSeconds: number; readonly because?: "ended" }

/** A decision after which nothing is left to ask. */
export type Settled = Exclude<Decision, { readonly kind: "ask" }>

/**
 * The answer of `POST /queues/{queueId}/pass`. `ROOM`: Usher does not take the visitor from a gate now, and the room knows
 * why. `ENDED`: the queue has ended. `REFUSED`: there is no such queue. `FAILED`: there was no answer.
 */
export type PassAnswer =
  | { readonly status: "GRANTED"; readonly admissionGrant: string }
  | { readonly status: "QUEUED"; readonly roomUrl: string }
  | { readonly status: "ROOM" | "ENDED" | "REFUSED" | "FAILED" }

/** Seconds after which a program may try again. */
const retryAfterSeconds = 10

/** Seconds after which the page of a closed gate tries again. */
const closedRetrySeconds = 5

/** The same for a queue that has ended, which rarely begins again. */
const endedRetrySeconds = 60

/** Cookies of one name that are verified. Two paths can give two; more is no browser's. */
const cookiesMax = 4

/** Seconds for which a browser that was sent to the room may return. */
const stateSeconds = 86_400

const statePattern = /^[\w-]{20,64}$/

/** A page of the same site: no other host, no backslash that browsers read as a slash, no line break. */
const pagePattern = /^\/(?:[!-.0-[\]-~][!-[\]-~]{0,1998})?$/

export const decide = async (knowledge: Knowledge, request: GateRequest): Promise<Decision> => {
  const { gate } = knowledge
  if (pathOf(request.target) === gate.returnPath) return returned(knowledge, request)
  const rule = ruleFor(gate.rules, request)
  if (!rule || rule.then === "pass") return { kind: "pass" }
  const { queueId } = rule.then
  const queue = gate.queues[queueId]
  if (!queue) return failed(gate, rule)
  const name = cookieName(gate, request, queue.experienceId)
  for (const token of cookiesIn(request, name).slice(0, cookiesMax)) {
    const claims = await grantIn(knowledge, token)
    if (claims?.experienceId === queue.experienceId) return { kind: "pass", jti: claims.jti }
  }
  if (queue.state === "ended") return ended(rule)
  if (!knowledge.isReachable) return queue.state === "scheduled" ? closed : failed(gate, rule)
  return queue.engaged ? sentAway(knowledge, request, queue.roomUrl) : { kind: "ask", queueId }
}

/** What follows from the answer to the question of `decide`. */
export const settle = async (knowledge: Knowledge, request: GateRequest, answer: PassAnswer): Promise<Settled> => {
  const { gate } = knowledge
  if (answer.status === "QUEUED") return sentAway(knowledge, request, answer.roomUrl)
  if (answer.status === "REFUSED") return closed
  const rule = ruleFor(gate.rules, request)
  if (answer.status === "ENDED") return ended(rule)
  const queue = rule && rule.then !== "pass" ? gate.queues[rule.then.queueId] : undefined
  if (answer.status === "ROOM" && queue) return sentAway(knowledge, request, queue.roomUrl)
  const claims = answer.status === "GRANTED" ? await grantIn(knowledge, answer.admissionGrant) : undefined
  if (answer.status !== "GRANTED" || !claims) return failed(gate, rule)
  return { kind: "pass", jti: claims.jti, cookie: cookieOf(knowledge, request, answer.admissionGrant, claims) }
}

/**
 * A grant counts only from the browser that was sent away, and once: another one may have been led here with a grant of
 * its own, and a request may be repeated. One that does not count leads on too: the page's own rule decides.
 */
const returned = async (knowledge: Knowledge, request: GateRequest): Promise<Decision> => {
  const { gate } = knowledge
  const query = request.target.split("?").slice(1).join("?")
  const location = pageIn(fieldIn(query, "to") ?? "/")
  const state = fieldIn(query, "state")
  if (state === undefined || !statesIn(gate, request).includes(state)) return { kind: "return", location }
  const isForm = (request.headers["content-type"] ?? "").toLowerCase().startsWith("application/x-www-form-urlencoded")
  const token = request.method === "POST" && isForm ? fieldIn(request.form ?? "", "usher_grant") : undefined
  const claims = token === undefined ? undefined : await grantIn(knowledge, token)
  if (token === undefined || !claims) return { kind: "return", location }
  const cookies = [cookieOf(knowledge, request, token, claims), stateCookie(gate, request, "", 0)]
  return { kind: "return", location, cookies }
}

/** The claims of a grant that opens one of the gate's queues. */
const grantIn = async (known: Knowledge, token: string): Promise<GrantClaims | undefined> => {
  const { gate, keys, now } = known
  const parts = partsOf(token)
  const claims = parts && (await isSignedBy(keys, parts)) ? parts.claims() : undefined
  if (!claims || problemOf(claims, gate, now) !== undefined || known.ended.has(claims.jti)) return undefined
  const isOfGate = Object.values(gate.queues).some(({ experienceId }) => experienceId === claims.experienceId)
  return isOfGate ? claims : undefined
}

const closed: Settled = { kind: "closed", retryAfterSeconds: closedRetrySeconds }

const failed = (gate: GateRecord, rule: GateRule | undefined): Settled =>
  (rule?.failMode ?? gate.failMode) === "open" ? { kind: "pass" } : closed

/** What a queue protected stays closed after its end, whatever the fail mode says. */
const ended = (rule: GateRule | undefined): Settled =>
  rule?.afterEnd === "pass"
    ? { kind: "pass" }
    : { kind: "closed", retryAfterSeconds: endedRetrySeconds, because: "ended" }

const sentAway = ({ gate, newState }: Knowledge, request: GateRequest, roomUrl: string): Settled => {
  if (!isNavigation(request)) return { kind: "wait", roomUrl, retryAfterSeconds }
  // The tabs of a browser share its state.
  const [state = newState] = statesIn(gate, request)
  const back = `${originOf(gate, request)}${gate.returnPath}?to=${escaped(pageIn(request.target))}&state=${state}`
  const location = `${roomUrl}${roomUrl.includes("?") ? "&" : "?"}return=${escaped(back)}`
  return { kind: "room", location, cookie: stateCookie(gate, request, state, stateSeconds) }
}

const isNavigation = ({ headers }: GateRequest): boolean => {
  if (headers["x-requested-with"] !== undefined) return false
  const mode = headers["sec-fetch-mode"]
  if (mode !== undefined && mode !== "navigate") return false
  return (headers["accept"] ?? "").toLowerCase().includes("text/html")
}

/** The host of a request with its port if it is the gate's, else the gate's first: a header must lead nobody away. */
const hostOf = (gate: GateRecord, { headers }: GateRequest): string => {
  const [, name, port = ""] = /^([a-z0-9.-]+?)\.?(:[0-9]{1,5})?$/.exec((headers["host"] ?? "").toLowerCase()) ?? []
  return name !== undefined && gate.hosts.includes(name) ? name + port : gate.hosts[0]!
}

const isLocal = (host: string): boolean => /^(localhost|127\.0\.0\.1)(:|$)/.test(host)

const originOf = (gate: GateRecord, request: GateRequest): string => {
  const host = hostOf(gate, request)
  return `${isLocal(host) ? "http" : "https"}://${host}`
}

/** `__Host-` keeps out cookies that other hosts of the domain have set. */
const cookieName = (gate: GateRecord, request: GateRequest, experienceId: string): string => {
  const { name = "usher-grant", domain, path = "/" } = gate.cookie
  const prefix = domain === undefined && path === "/" ? "__Host-" : "__Secure-"
  return `${isLocal(hostOf(gate, request)) ? "" : prefix}${name}-${experienceId}`
}

const cookieOf = ({ gate, now }: Knowledge, request: GateRequest, token: string, claims: GrantClaims): string => {
  const { domain, path = "/" } = gate.cookie
  const maxAge = claims.exp === undefined ? "" : `; Max-Age=${Math.max(1, Math.floor(claims.exp - now / 1000))}`
  const secure = isLocal(hostOf(gate, request)) ? "" : "; Secure"
  const host = domain === undefined ? "" : `; Domain=${domain}`
  const name = cookieName(gate, request, claims.experienceId)
  return `${name}=${token}; Path=${path}${host}; HttpOnly; SameSite=Lax${secure}${maxAge}`
}

/** Its path is always the root: the return path must get it. */
const stateName = ({ cookie: { domain } }: GateRecord, isAtLocalhost: boolean): string =>
  `${isAtLocalhost ? "" : domain === undefined ? "__Host-" : "__Secure-"}usher-state`

const statesIn = (gate: GateRecord, request: GateRequest): ReadonlyArray<string> =>
  cookiesIn(request, stateName(gate, isLocal(hostOf(gate, request))))
    .slice(0, cookiesMax)
    .filter((state) => statePattern.test(state))

/** The room may be another site, which posts the grant: a browser sends only `SameSite=None` cookies with such a form. */
const stateCookie = (gate: GateRecord, request: GateRequest, state: string, maxAge: number): string => {
  const isAtLocalhost = isLocal(hostOf(gate, request))
  const domain = gate.cookie.domain === undefined ? "" : `; Domain=${gate.cookie.domain}`
  const rest = isAtLocalhost ? "SameSite=Lax" : "SameSite=None; Secure"
  return `${stateName(gate, isAtLocalhost)}=${state}; Path=/${domain}; HttpOnly; ${rest}; Max-Age=${maxAge}`
}

const pageIn = (page: string): string => (pagePattern.test(page) ? page : "/")

/** The first field of this name in a query or form. */
const fieldIn = (text: string, name: string): string | undefined => {
  const field = text.split("&").find((pair) => pair.startsWith(`${name}=`))
  return field === undefined ? undefined : unescaped(field.slice(name.length + 1).replaceAll("+", " "))
}

/** Escapes all but unreserved characters, as every language's strict form does. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
