/** Which origins may read an answer of the Consumer API. */
import { Effect } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"

const allowOrigin = "access-control-allow-origin"

/**
 * Limits the origins that may read the answer to those of the key's organization, if it names any. This holds for
 * refusals too, as soon as the key is known. Otherwise any origin may read answers of the Consumer API. A preflight
 * carries no key.
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
        // Browsers may not read answers of the Admin API.
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

/**
 * The same for the headers of an answer of the Consumer API. A header that is already there keeps its position.
 */
export const restrictOrigin = (
  headers: Record<string, string>,
  origin: string | undefined,
  { allowedOrigins }: KeyHolder
): void => {
  if (origin === undefined || allowedOrigins === undefined) return
  headers["vary"] = "Origin"
  if (allowedOrigins.includes(origin)) headers[allowOrigin] = origin
  else delete headers[allowOrigin]
}
