/** The requests of proxies, as each of them asks whether a request may go on, and the answers that each understands. */
import type { GateRequest, Settled } from "../../client/gate.ts"
import { answerTo, type GateAnswer } from "../../client/gateAnswers.ts"
import { isIP } from "node:net"

/**
 * How a proxy asks. `direct`: a browser's own request, at the return path. nginx takes a 401 and a 403 alone for a "no",
 * so it gets the status in a header.
 */
export type Asking = "auth-request" | "forward-auth" | "ext-authz" | "direct"

interface Sent {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
  /** Names and values in turns, as they were sent: one may be there twice. */
  readonly rawHeaders: ReadonlyArray<string>
}

const envoyPrefix = "/ext-authz"

/** How a request asks, by its path. */
export const askingOf = (url: string): Asking => {
  const path = url.split("?", 1)[0]!
  if (path === "/auth-request" || path === "/forward-auth") return path.slice(1) as Asking
  return path === envoyPrefix || path.startsWith(`${envoyPrefix}/`) ? "ext-authz" : "direct"
}

/** The headers in which each proxy names the request: its method, its target and its host. */
const naming: { readonly [A in Asking]: ReadonlyArray<string> } = {
  "auth-request": ["x-original-method", "x-original-uri", "x-forwarded-host"],
  "forward-auth": ["x-forwarded-method", "x-forwarded-uri", "x-forwarded-host"],
  "ext-authz": ["host"],
  direct: []
}

export interface Reading {
  /** The header with the visitor's address, in lower case. */
  readonly clientAddressHeader?: string | undefined
  readonly form?: string | undefined
}

/**
 * The request that a proxy asks about. Undefined if what names it is missing, is there twice or cannot be: a visitor may
 * have added a header that the proxy does not replace, and then it is not known which request goes on to the site.
 */
export const requestOf = (
  asking: Asking,
  sent: Sent,
  { clientAddressHeader, form }: Reading = {}
): GateRequest | undefined => {
  const names = naming[asking]
  const isAsked = asking !== "direct" && clientAddressHeader !== undefined
  const needed = isAsked ? [...names, clientAddressHeader] : names
  if (!needed.every((name) => isOnce(sent.rawHeaders, name))) return undefined
  const headers = Object.fromEntries(
    Object.entries(sent.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  )
  const clientAddress = isAsked ? lastAddressIn(headers[clientAddressHeader]!) : undefined
  const { method, target, host } = namedBy(asking, sent, headers)
  const isNamed = methodPattern.test(method) && targetPattern.test(target) && host !== ""
  if (!isNamed || (isAsked && clientAddress === undefined)) return undefined
  return {
    method,
    target,
    headers: { ...headers, host },
    ...(form !== undefined && { form }),
    ...(clientAddress !== undefined && { clientAddress })
  }
}

const methodPattern = /^[A-Za-z-]{1,30}$/

/** Without spaces and control characters; what a rule decides about is a path. */
const targetPattern = /^(?:\/|https?:\/\/)[^\0-\x20\x7f]*$/i

const namedBy = (asking: Asking, { method, url }: Sent, headers: { readonly [name: string]: string }) => {
  if (asking === "ext-authz") return { method, target: url.slice(envoyPrefix.length) || "/", host: headers["host"]! }
  if (asking === "direct") return { method, target: url, host: headers["x-forwarded-host"] ?? headers["host"] ?? "" }
  const [byMethod, byTarget, byHost] = naming[asking] as readonly [string, string, string]
  return { method: headers[byMethod]!, target: headers[byTarget]!, host: headers[byHost]! }
}

const isOnce = (rawHeaders: ReadonlyArray<string>, wanted: string): boolean => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() === wanted) count++
  }
  return count === 1
}

/** The last of the addresses in a header, which the nearest proxy has added. */
const lastAddressIn = (header: string): string | undefined => {
  const address = header.slice(header.lastIndexOf(",") + 1).trim()
  return isIP(address) === 0 ? undefined : address
}

/** The answer to a proxy. A "yes" and a "no" look otherwise to each, and the rest is as without a proxy. */
export const answerOf = (asking: Asking, decision: Settled): GateAnswer => {
  if (decision.kind === "pass") {
    const cookies = decision.cookie === undefined ? [] : [decision.cookie]
    // Envoy takes a 200 alone for a "yes".
    const status = asking === "ext-authz" ? 200 : 204
    return { status, headers: { "cache-control": "no-store" }, cookies, body: "" }
  }
  const answer = answerTo(decision)
  if (decision.kind === "return") return answer
  if (decision.kind === "room") return asking === "auth-request" ? { ...answer, status: 401 } : answer
  // A proxy that cannot read the body of an answer has the room's address from the header.
  const room = decision.kind === "wait" ? { location: decision.roomUrl } : {}
  const headers = { ...answer.headers, ...room, "x-usher-status": `${answer.status}` }
  return { ...answer, headers, status: asking === "auth-request" ? 403 : answer.status }
}
