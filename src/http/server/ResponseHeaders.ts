/** The headers that every response of a listener has, on the direct path and on the complete one. */
import { randomUUID } from "node:crypto"
import { apiVersion } from "../../api/OpenApi.ts"
import type { Api } from "../limits/Limit.ts"
import type { LimitStatus } from "../limits/LimitStatus.ts"

/** Browsers that have used HTTPS once use only HTTPS for a year. */
const strictTransport = "max-age=31536000"

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/

/** `Date` tells a page of another origin the server's time. */
const exposedHeaders =
  "Date, X-Request-Id, X-Api-Version, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"

/** For an organization that names its origins, `AllowedOrigins.ts` narrows this once the key is known. */
const crossOriginHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedHeaders
}

/** Headers by name, in the order in which they are sent. */
export type ResponseHeaders = Record<string, string>

/** The caller's id for the request if it is valid, else a new one. */
export const requestIdOf = (sent: string | ReadonlyArray<string> | undefined): string =>
  typeof sent === "string" && requestIdPattern.test(sent) ? sent : randomUUID()

/** The meaning of a response's headers. `nosniff` is always among them: browsers must not guess a type. */
export interface Facts {
  readonly requestId: string
  /** True if the client uses TLS. */
  readonly isEncrypted: boolean
  /** Absent if the path has no limits. */
  readonly limit: LimitStatus | undefined
  /** True if the response says itself whether caches may keep it, or if they may. */
  readonly isCacheable: boolean
}

/** Makes the function that adds the headers of each response of an API. */
export const makeHeaders = (api: Api) => {
  const isCrossOrigin = api === "consumer"
  return (headers: ResponseHeaders, { requestId, isEncrypted, limit, isCacheable }: Facts): void => {
    headers["x-api-version"] = apiVersion
    headers["x-content-type-options"] = "nosniff"
    if (isCrossOrigin) {
      headers["access-control-allow-origin"] = crossOriginHeaders["access-control-allow-origin"]
      headers["access-control-expose-headers"] = exposedHeaders
    }
    headers["x-request-id"] = requestId
    if (limit !== undefined) {
      headers["x-ratelimit-limit"] = `${limit.limit}`
      headers["x-ratelimit-remaining"] = `${limit.remaining}`
      headers["x-ratelimit-reset"] = `${limit.resetAtSeconds}`
    }
    if (isEncrypted) headers["strict-transport-security"] = strictTransport
    if (!isCacheable) headers["cache-control"] = "no-store"
  }
}
