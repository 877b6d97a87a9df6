/**
 * A gate in front of a site, in any runtime with `fetch` and Web Crypto: Workers, Deno, Bun, middleware of Next. It
 * reads its rules from Usher, and needs nothing but its key.
 */
import type { Settled } from "./gate.ts"
import { answerTo } from "./gateAnswers.ts"
import { GateField, type GateSettings as FieldSettings, type Later } from "./gateField.ts"
import { formOf } from "./forms.ts"

export interface GateSettings extends FieldSettings {
  /** The crawler that the runtime has verified; a `User-Agent` proves nothing. */
  readonly crawler?: (request: Request) => string | undefined
}

export type Next = (request: Request) => Response | Promise<Response>

export function createGate(settings: GateSettings) {
  const field = new GateField(settings, "fetch")

  /** Answers the request, or has `next` do so. `waitUntil` is the runtime's: work goes on after the answer. */
  return async (request: Request, next: Next, waitUntil: Later = () => {}): Promise<Response> => {
    const { host, pathname, search } = new URL(request.url)
    const headers = { host, ...Object.fromEntries(request.headers) }
    const crawler = settings.crawler?.(request)
    const asked = { method: request.method, target: pathname + search, headers, ...(crawler && { crawler }) }
    const decision: Settled = await field.decide(asked, () => formOf(request), waitUntil)
    if (decision.kind !== "pass") {
      const { status, headers, body } = answerTo(decision)
      return new Response(body || null, { status, headers })
    }
    const page = await next(request)
    return decision.cookie === undefined ? page : withCookie(page, decision.cookie)
  }
}

/** The visitor's answer is nobody else's. */
const withCookie = (page: Response, cookie: string): Response => {
  const answer = new Response(page.body, page)
  answer.headers.append("set-cookie", cookie)
  answer.headers.set("cache-control", "no-store")
  return answer
}
