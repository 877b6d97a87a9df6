/**
 * Errors of a listener as pages. Its envelope answers in JSON what no page has answered: an unknown address, a wrong
 * method, a body that is too large, too many requests, a failure. A browser that asks for a page gets the same in words.
 */
import { Context, Effect } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Refusal } from "./Refusal.ts"
import { notReadableElsewhere } from "./Security.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Programs read these addresses. */
const ofPrograms = /^\/(?:api|health|ready|openapi\.json|\.well-known)\b/

/** True if a browser asks for a page. Programs do not name HTML. */
const asksForPage = ({ headers, url }: Pick<Request, "headers" | "url">): boolean =>
  headers["accept"]?.includes("text/html") === true && !ofPrograms.test(url)

/** The errors of the envelope that become pages, with the code of their refusal. */
const codes: { readonly [status: number]: string } = {
  404: "NOT_FOUND",
  405: "NOT_FOUND",
  413: "INVALID",
  429: "RATE_LIMIT",
  500: "UNAVAILABLE",
  503: "UNAVAILABLE"
}

/** Seconds after which a visitor may try again after a failure. */
const retrySeconds = 20

/** Makes the errors of a router pages, which `page` writes. */
export const use = Effect.fnUntraced(function* (
  router: HttpRouter.HttpRouter,
  page: (refusal: Refusal) => Effect.Effect<Response, never, Request>
) {
  const write = (request: Request, answered: Response): Effect.Effect<Response> => {
    const refusal = refusalOf(answered)
    if (refusal === undefined) return Effect.succeed(answered)
    return page(refusal).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.map((shown) =>
        notReadableElsewhere(HttpServerResponse.setHeaders(shown, { ...headersOf(answered), ...shown.headers }))
      )
    )
  }
  // The envelope may be around this, or within it. An answer passes here after both.
  yield* router.addGlobalMiddleware((handle) =>
    Effect.withFiber(({ context }) => {
      if (asksForPage(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)))
        HttpEffect.appendPreResponseHandlerUnsafe(context, write)
      return handle
    })
  )
})

const nothing = HttpServerResponse.jsonUnsafe({ error: "Not found" }, { status: 404 })

/** Adds what a browser sees at `/`. Programs still find nothing there. */
export const addFirstPage = <E, R>(
  router: HttpRouter.HttpRouter,
  page: (request: Request) => Effect.Effect<Response, E, R>
) =>
  router.add(
    "*",
    "/",
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      asksForPage(request) ? page(request) : Effect.succeed(nothing)
    )
  )

/** The refusal for an answer of the envelope; undefined for any other answer. */
const refusalOf = ({ status, headers }: Response): Refusal | undefined => {
  const code = codes[status]
  if (code === undefined || headers["content-type"]?.startsWith("application/json") !== true) return undefined
  const mayRepeat = status === 429 || status >= 500
  const retryAfterSeconds = mayRepeat ? Number(headers["retry-after"] ?? retrySeconds) : 0
  return new Refusal({ status, code, ...(retryAfterSeconds > 0 && { retryAfterSeconds }) })
}

/** What an answer says besides its body. */
const headersOf = ({ headers }: Response): { readonly [name: string]: string } => {
  const { "content-type": _type, "content-length": _length, ...others } = headers
  return others
}
