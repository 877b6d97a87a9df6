/**
 * What describes an API to programs and to people: its description (OpenAPI), and a page that renders it. The page needs
 * nothing from elsewhere: the script that renders it is in it, and its policy lets it run that script and ask the listener that
 * served it, and nothing else.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import type { Document } from "./Documents.ts"

/** What the renderer's vendor offers beside a reference is left out: its toolbar to share and to sell SDKs, its client, its fonts. */
const renderer = { withDefaultFonts: false, showDeveloperTools: "never", hideClientButton: true, telemetry: false }

/** Without it browsers ask for one, and there is none. */
const noIcon = '<link rel="icon" href="data:," />'

/** The description, as JSON. */
export const description = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Effect.Effect<Document> =>
  Effect.sync(() => ({ text: JSON.stringify(OpenApi.fromApi(api)), contentType: "application/json" }))

/** The rendered reference. */
export const page = Effect.fnUntraced(function* <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) {
  const request = HttpServerRequest.fromWeb(new Request("http://localhost/docs"))
  const rendered = yield* HttpRouter.toHttpEffect(HttpApiScalar.layer(api, { path: "/docs", scalar: renderer })).pipe(
    Effect.flatten,
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.scoped,
    Effect.orDie
  )
  const html = yield* Effect.promise(() => HttpServerResponse.toWeb(rendered).text())
  const text = html.replace("<head>", `<head>\n    ${noIcon}`)
  return {
    text,
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policyOf(text), "referrer-policy": "no-referrer" }
  } satisfies Document
})

/** Scripts run if they are those of the page. Styles are free: the renderer makes them as it goes. */
function policyOf(html: string): string {
  const hashes = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${hashes.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}
