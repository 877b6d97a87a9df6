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
  /** Another one as soon as a setting has changed. */
  readonly version?: string
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
}

export type Decision =
  /** To the site. `jti` names the visitor for `renew`; the cookie goes onto the site's answer. */
  | { readonly kind: "pass"; readonly jti?: string; readonly cookie?: string }
  /** Call `pass` of this queue, then `settle`. */
  | { readonly kind: "ask"; readonly queueId: string }
  /** A 303 from the return path to the page that the visitor wanted. */
  | { readonly kind: "return"; readonly location: string; readonly cookie?: string }
  /** A 303 to the room. */
  | { readonly kind: "room"; readonly location: string }
  /** A 429 with the room's address. */
  | { readonly kind: "wait"; readonly roomUrl: string; readonly retryAfterSeconds: number }
  /** A 503 that tries again by itself. */
  | { readonly kind: "closed"; readonly retryAfterSeconds: number }

/** A decision after which nothing is left to ask. */
export type Settled = Exclude<Decision, { readonly kind: "ask" }>

/** The answer of `POST /queues/{queueId}/pass`, or that there was none. */
export type PassAnswer =
  | { readonly status: "GRANTED"; readonly admissionGrant: string }
  | { readonly status: "QUEUED"; readonly roomUrl: string }
  | { readonly status: "FAILED" }

/** Seconds after which a program may try again. */
const retryAfterSeconds = 10

/** Seconds after which the page of a closed gate tries again. */
const closedRetrySeconds = 5

/** Cookies of one name that are verified. Two paths can give two; more is no browser's. */
const cookiesMax = 4

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
  if (!knowledge.isReachable) return failed(gate, rule)
  return queue.engaged ? sentAway(gate, request, queue.roomUrl) : { kind: "ask", queueId }
}

/** What follows from the answer to the question of `decide`. */
export const settle = async (knowledge: Knowledge, request: GateRequest, answer: PassAnswer): Promise<Settled> => {
  const { gate } = knowledge
  if (answer.status === "QUEUED") return sentAway(gate, request, answer.roomUrl)
  const claims = answer.status === "GRANTED" ? await grantIn(knowledge, answer.admissionGrant) : undefined
  if (answer.status !== "GRANTED" || !claims) return failed(gate, ruleFor(gate.rules, request))
  return { kind: "pass", jti: claims.jti, cookie: cookieOf(knowledge, request, answer.admissionGrant, claims) }
}

/** A grant that does not admit leads on too: the page's own rule decides. */
const returned = async (knowledge: Knowledge, request: GateRequest): Promise<Decision> => {
  const page = fieldIn(request.target.split("?").slice(1).join("?"), "to")
  const location = pageIn(page ?? "/")
  const isForm = (request.headers["content-type"] ?? "").toLowerCase().startsWith("application/x-www-form-urlencoded")
  const token = request.method === "POST" && isForm ? fieldIn(request.form ?? "", "usher_grant") : undefined
  const claims = token === undefined ? undefined : await grantIn(knowledge, token)
  if (token === undefined || !claims) return { kind: "return", location }
  return { kind: "return", location, cookie: cookieOf(knowledge, request, token, claims) }
}

/** The claims of a grant that opens one of the gate's queues. */
const grantIn = async ({ gate, keys, ended, now }: Knowledge, token: string): Promise<GrantClaims | undefined> => {
  const parts = partsOf(token)
  const claims = parts && (await isSignedBy(keys, parts)) ? parts.claims() : undefined
  if (!claims || problemOf(claims, gate, now) !== undefined || ended.has(claims.jti)) return undefined
  const isOfGate = Object.values(gate.queues).some(({ experienceId }) => experienceId === claims.experienceId)
  return isOfGate ? claims : undefined
}

const failed = (gate: GateRecord, rule: GateRule | undefined): Settled =>
  (rule?.failMode ?? gate.failMode) === "open"
    ? { kind: "pass" }
    : { kind: "closed", retryAfterSeconds: closedRetrySeconds }

const sentAway = (gate: GateRecord, request: GateRequest, roomUrl: string): Settled => {
  if (!isNavigation(request)) return { kind: "wait", roomUrl, retryAfterSeconds }
  const back = `${originOf(gate, request)}${gate.returnPath}?to=${escaped(pageIn(request.target))}`
  return { kind: "room", location: `${roomUrl}${roomUrl.includes("?") ? "&" : "?"}return=${escaped(back)}` }
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

const pageIn = (page: string): string => (pagePattern.test(page) ? page : "/")

/** The first field of this name in a query or form. */
const fieldIn = (text: string, name: string): string | undefined => {
  const field = text.split("&").find((pair) => pair.startsWith(`${name}=`))
  return field === undefined ? undefined : unescaped(field.slice(name.length + 1).replaceAll("+", " "))
}

/** Escapes all but unreserved characters, as every language's strict form does. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
