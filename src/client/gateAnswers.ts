/** The HTTP answers of a gate, where the site does not answer itself. */
import type { Settled } from "./gate.ts"

export interface GateAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly cookies: ReadonlyArray<string>
  readonly body: string
}

/** A decision after which the site does not answer. */
export type OwnDecision = Exclude<Settled, { readonly kind: "pass" }>

export const answerTo = (decision: OwnDecision): GateAnswer => {
  switch (decision.kind) {
    case "return":
      return leading(decision.location, decision.cookies ?? [])
    case "room":
      return leading(decision.location, [decision.cookie])
    case "wait":
      return later(429, decision.retryAfterSeconds, "application/json", waitBody(decision.roomUrl))
    case "closed":
      return later(503, decision.retryAfterSeconds, "text/html; charset=utf-8", closedPage(decision))
  }
}

const uncached = { "cache-control": "no-store" }

const leading = (location: string, cookies: ReadonlyArray<string>): GateAnswer => ({
  status: 303,
  headers: { ...uncached, location },
  cookies,
  body: ""
})

const later = (status: number, seconds: number, contentType: string, body: string): GateAnswer => ({
  status,
  headers: { ...uncached, "retry-after": `${seconds}`, "content-type": contentType },
  cookies: [],
  body
})

const waitBody = (roomUrl: string): string => JSON.stringify({ error: "Please wait in the room", roomUrl })

const closedPage = ({ retryAfterSeconds, because }: Extract<OwnDecision, { readonly kind: "closed" }>): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="${retryAfterSeconds}">` +
  `<meta name="viewport" content="width=device-width">` +
  (because === "ended"
    ? `<title>Closed</title><h1>Closed</h1><p>This page is not open any more.</p></html>`
    : `<title>One moment</title><h1>One moment</h1>` +
      `<p>The shop is not available right now. This page tries again by itself.</p></html>`)
