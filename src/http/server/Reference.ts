/**
 * The description of an API (OpenAPI), and a page that renders it. The page is self-contained: it includes the script
 * that renders it, and its policy allows only that script and requests to its own listener.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, HttpApiScalar, OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import type { Document } from "./Documents.ts"

/** Features of the renderer that are switched off: its toolbar for sharing and for SDKs, its client, and its fonts. */
const renderer = { withDefaultFonts: false, showDeveloperTools: "never", hideClientButton: true, telemetry: false }

/** An empty icon. Without it browsers request one that does not exist. */
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

/** The policy allows the scripts of the page. It allows all styles, because the renderer creates them while it runs. */
function policyOf(html: string): string {
  const scripts = html.split("<script>").slice(1)
  const hashes = scripts.map((script) => {
    const text = script.slice(0, script.indexOf("</script>"))
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`
  })
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
