/** Which origins may read an answer of the Consumer API. */
import { Effect } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"

const allowOrigin = "access-control-allow-origin"

/**
 * Answers of the Consumer API may be read from any origin, unless the organization names its own: then only from those,
 * refusals included, as soon as a key says which organization it is. (A preflight carries no key.)
 */
export const restrictingOrigin = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  lookup: Effect.Effect<KeyHolder | undefined, E, R>
): Effect.Effect<KeyHolder | undefined, E, R> => {
  const origin = request.headers["origin"]
  if (origin === undefined) return lookup
  return Effect.tap(lookup, (holder) => {
    const origins = holder?.allowedOrigins
    if (origins === undefined) return Effect.void
    return Effect.withFiber(({ context }) => {
      const isAllowed = origins.includes(origin)
      HttpEffect.appendPreResponseHandlerUnsafe(context, (_, response) => {
        // The Admin API is for no browser.
        if (response.headers[allowOrigin] === undefined) return Effect.succeed(response)
        const varied = HttpServerResponse.setHeader(response, "vary", "Origin")
        return Effect.succeed(
          isAllowed
            ? HttpServerResponse.setHeader(varied, allowOrigin, origin)
            : HttpServerResponse.removeHeader(varied, allowOrigin)
        )
      })
      return Effect.void
    })
  })
}
