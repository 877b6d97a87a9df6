/** The security headers of a page, and the test that a request comes from the visitor's own page. */
import { Context, Effect } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { Origins } from "../http/server/Origins.ts"

/** Returns the source of an inline script or style for a policy. */
export const hashSource = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** The sources of a page's contents, and the targets of its forms. */
export interface Contents {
  readonly scripts: ReadonlyArray<string>
  readonly styles: ReadonlyArray<string>
  /** Origins other than its own to which a form may go. */
  readonly formOrigins: ReadonlyArray<string>
  /** True for a preview, which a page of its own origin may frame. It runs nothing, and sends no form. */
  readonly isPreview?: boolean
  /** True for a page that frames a preview. */
  readonly framesPreview?: boolean
  /** The origins of a provider's widget. Its script is not ours, so nothing is asked of its types. */
  readonly widgetSources?: ReadonlyArray<string>
}

/** The headers of a page. Without `no-referrer`, because browsers then send `Origin: null` with a form. */
export const headersOf = ({
  scripts,
  styles,
  formOrigins,
  isPreview = false,
  framesPreview = false,
  widgetSources = []
}: Contents): { readonly [name: string]: string } => ({
  "content-security-policy": [
    "default-src 'none'",
    sourcesOf("script-src", [...scripts.map(hashSource), ...widgetSources]),
    sourcesOf("style-src", [...styles.map(hashSource), ...widgetSources]),
    "img-src 'self' https: data:",
    "font-src 'self'",
    sourcesOf("connect-src", ["'self'", ...widgetSources]),
    ...(widgetSources.length === 0 ? [] : [sourcesOf("frame-src", widgetSources)]),
    ...(framesPreview ? ["frame-src 'self'"] : []),
    isPreview ? "form-action 'none'" : `form-action ${["'self'", ...formOrigins].join(" ")}`,
    `frame-ancestors ${isPreview ? "'self'" : "'none'"}`,
    ...(isPreview ? ["sandbox"] : []),
    "base-uri 'none'",
    ...(widgetSources.length === 0 ? ["require-trusted-types-for 'script'", "trusted-types usher"] : [])
  ].join("; "),
  "referrer-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff"
})

const sourcesOf = (directive: string, sources: ReadonlyArray<string>): string =>
  `${directive} ${sources.length === 0 ? "'none'" : sources.join(" ")}`

const crossOriginHeaders = ["access-control-allow-origin", "access-control-expose-headers"] as const

/** The access token of a request by the widget of a shop. Such a request needs no cookie, and none is read. */
export const bearerOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined =>
  /^Bearer (\S+)$/i.exec(headers["authorization"] ?? "")?.[1]

/** Removes what lets scripts of other sites read an answer. */
export const notReadableElsewhere = (response: HttpServerResponse.HttpServerResponse) =>
  crossOriginHeaders.reduce(HttpServerResponse.removeHeader, response)

/** The same for the answer to this request. The API's answers have no cookie; pages do, except to an access token. */
export const readableHereOnly = Effect.withFiber(({ context }) => {
  if (bearerOf(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)) !== undefined) return Effect.void
  HttpEffect.appendPreResponseHandlerUnsafe(context, (_, response) => Effect.succeed(notReadableElsewhere(response)))
  return Effect.void
})

/**
 * Makes the test whether a page of this origin has sent the request. Browsers say so in `Sec-Fetch-Site`; older ones
 * send `Origin` with every form. Cookies ignore ports, so `same-site` is not enough.
 */
export const makeIsOwn = Effect.map(Origins, (origins) => (request: HttpServerRequest.HttpServerRequest): boolean => {
  // A browser never adds an access token on its own.
  if (bearerOf(request) !== undefined) return true
  const site = request.headers["sec-fetch-site"]
  if (site !== undefined) return site === "same-origin"
  const { host, origin } = request.headers
  if (host === undefined || origin === undefined) return false
  return origin === `${origins.of(request).isEncrypted ? "https" : "http"}://${host.toLowerCase()}`
})
