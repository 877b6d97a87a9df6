/** The requests of proxies, as each of them asks whether a request may go on, and the answers that each understands. */
import type { GateRequest, Settled } from "../../client/gate.ts"
import { answerTo, type GateAnswer } from "../../client/gateAnswers.ts"

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
}

const envoyPrefix = "/ext-authz"

/** How a request asks, by its path. */
export const askingOf = (url: string): Asking => {
  const path = url.split("?", 1)[0]!
  if (path === "/auth-request" || path === "/forward-auth") return path.slice(1) as Asking
  return path === envoyPrefix || path.startsWith(`${envoyPrefix}/`) ? "ext-authz" : "direct"
}

/** The request that a proxy asks about. */
export const requestOf = (asking: Asking, { method, url, headers: sent }: Sent, form?: string): GateRequest => {
  const headers = Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  )
  const host = headers["x-forwarded-host"] ?? headers["host"] ?? ""
  switch (asking) {
    case "auth-request":
      return {
        method: headers["x-original-method"] ?? "GET",
        target: headers["x-original-uri"] ?? "/",
        headers: { ...headers, host }
      }
    case "forward-auth":
      return {
        method: headers["x-forwarded-method"] ?? "GET",
        target: headers["x-forwarded-uri"] ?? "/",
        headers: { ...headers, host }
      }
    case "ext-authz":
      return { method, target: url.slice(envoyPrefix.length) || "/", headers: { ...headers, host } }
    case "direct":
      return { method, target: url, headers: { ...headers, host }, ...(form !== undefined && { form }) }
  }
}

/** The answer to a proxy. A "yes" and a "no" look otherwise to each, and the rest is as without a proxy. */
export const answerOf = (asking: Asking, decision: Settled): GateAnswer => {
  if (decision.kind === "pass") {
    const cookie = decision.cookie === undefined ? {} : { "set-cookie": decision.cookie }
    // Envoy takes a 200 alone for a "yes".
    const status = asking === "ext-authz" ? 200 : 204
    return { status, headers: { "cache-control": "no-store", ...cookie }, body: "" }
  }
  const answer = answerTo(decision)
  if (decision.kind === "return") return answer
  if (decision.kind === "room") return asking === "auth-request" ? { ...answer, status: 401 } : answer
  // A proxy that cannot read the body of an answer has the room's address from the header.
  const room = decision.kind === "wait" ? { location: decision.roomUrl } : {}
  const headers = { ...answer.headers, ...room, "x-usher-status": `${answer.status}` }
  return { ...answer, headers, status: asking === "auth-request" ? 403 : answer.status }
}
