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
  /** The visitor's address, as a proxy that you trust names it. Usher's limits for each address hold then. */
  readonly clientAddress?: (request: Request) => string | null | undefined
}

export type Next = (request: Request) => Response | Promise<Response>

export function createGate(settings: GateSettings) {
  const field = new GateField(settings, "fetch")

  /** Answers the request, or has `next` do so. `waitUntil` is the runtime's: work goes on after the answer. */
  return async (request: Request, next: Next, waitUntil: Later = () => {}): Promise<Response> => {
    const { host, pathname, search } = new URL(request.url)
    const headers = { host, ...Object.fromEntries(request.headers) }
    const crawler = settings.crawler?.(request)
    const clientAddress = settings.clientAddress?.(request)
    const asked = {
      method: request.method,
      target: pathname + search,
      headers,
      ...(crawler && { crawler }),
      ...(clientAddress && { clientAddress })
    }
    const decision: Settled = await field.decide(asked, () => formOf(request), waitUntil)
    if (decision.kind !== "pass") {
      const { status, headers, cookies, body } = answerTo(decision)
      const answer = new Response(body || null, { status, headers })
      for (const cookie of cookies) answer.headers.append("set-cookie", cookie)
      return answer
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
