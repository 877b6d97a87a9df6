/**
 * The rate limits of requests. Each request is counted here once its organization is known, before anything else is
 * looked up or decoded. The envelope adds the caller's limit status to each response.
 */
import { Context, Effect, Exit } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { SecurityEvents } from "../../store/organization/SecurityEvents.ts"
import { RateLimitExceeded } from "../../api/Errors.ts"
import type { Api } from "./Limit.ts"
import type { LimitStatus } from "./LimitStatus.ts"
import { type Caller, RateLimits } from "./RateLimits.ts"
import { allowLargeBody } from "../server/FastBodyReader.ts"
import { countedAddress, Origins } from "../server/Origins.ts"
import { RateCategory } from "../../api/Annotations.ts"
import * as Time from "../../store/coordination/Time.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/**
 * Counts a request of the key's organization, or ends it with a 429 and records that. The consumer is named if it acts
 * itself.
 *
 * Every operation declares the 429 (`RateLimitExceeded`). It leaves as a finished response without the encoder, because
 * a refusal must cost less than an answer.
 */
export interface CountRequest {
  (request: Request, holder: KeyHolder, consumerId?: string): Effect.Effect<void>
  /** Counts the answer of a request that has passed for more requests if it is large (`bytesPerRequest`). */
  charge(request: Request, holder: KeyHolder, answer: Response): void
}

/** A further request is counted for each so many bytes of an answer to the public key. Streams have limits of their own. */
export const bytesPerRequest = 131_072

/** Makes the function that counts the requests of an operation, from the category that its endpoint declares. */
export const makeCounters = Effect.gen(function* () {
  const limits = yield* RateLimits
  const origins = yield* Origins
  const securityEvents = yield* SecurityEvents
  return (api: Api, endpoint: HttpApiEndpoint.Top): CountRequest => {
    const category = Context.get(endpoint.annotations, RateCategory)
    const limit = limits.ofOperation(api, category)
    const charge: CountRequest["charge"] = (request, holder, { body }) => {
      const requests = body._tag === "Uint8Array" ? Math.floor(body.contentLength / bytesPerRequest) : 0
      if (requests === 0 || holder.kind !== "publishable") return
      const address = () => countedAddress(origins.of(request).address)
      mark(request.source, limit.charge(callerOf(holder, address), requests))
    }
    const count = (request: Request, holder: KeyHolder, consumerId?: string): Effect.Effect<void> => {
      if (holder.kind !== "publishable") allowLargeBody(request)
      const address = () => countedAddress(origins.of(request).address)
      const passOrRefuse = (status: LimitStatus): Effect.Effect<void> => {
        mark(request.source, status)
        const { retryAfterSeconds } = status
        if (retryAfterSeconds === undefined) return Exit.void
        const event = {
          type: "rate_limited",
          clientAddress: address(),
          consumerId,
          details: { api, category }
        } as const
        return Effect.andThen(securityEvents.record(holder.tenant, event), Effect.die(refusal(retryAfterSeconds)))
      }
      const outcome = limit.pass(callerOf(holder, address, consumerId))
      return Effect.isEffect(outcome) ? Effect.flatMap(outcome, passOrRefuse) : passOrRefuse(outcome)
    }
    return Object.assign(count, { charge })
  }
})

/** The caller of a request with the holder's key. */
export const callerOf = (holder: KeyHolder, address: () => string, consumerId?: string): Caller => ({
  organizationId: holder.tenant.organizationId,
  rateLimits: holder.rateLimits,
  // An organization's server acts for many consumers. Only callers with the public key have limits of their own.
  ...(holder.kind === "publishable" && { address, ...(consumerId !== undefined && { consumerId }) })
})

/** True if the request's address has made too many requests without a valid key. */
export const exhaustion = Effect.gen(function* () {
  const limits = yield* RateLimits
  const origins = yield* Origins
  return (request: Request): boolean => limits.isUnknownRefused(() => countedAddress(origins.of(request).address))
})

/**
 * Refuses a request because of a limit outside this service, for example the number of codes for one address. The
 * answer shows this limit: `requestsMax` requests, and the next one from `opensAt` on.
 */
export const refuse = Effect.fnUntraced(function* (request: Request, requestsMax: number, opensAt: Millis) {
  const now = yield* Time.serverNow
  const retryAfterSeconds = Math.max(1, Math.ceil((opensAt - now) / 1_000))
  const resetAtSeconds = Math.ceil(opensAt / 1_000)
  mark(request.source, { limit: requestsMax, remaining: 0, resetAtSeconds, retryAfterSeconds })
  return yield* new RateLimitExceeded({ retryAfterSeconds })
})

/** The same as a finished response, for operations that do not declare the refusal as an error of their own. */
export const refuseNow = (request: Request, requestsMax: number, opensAt: Millis): Effect.Effect<never> =>
  Effect.flatMap(Time.serverNow, (now) => {
    const retryAfterSeconds = Math.max(1, Math.ceil((opensAt - now) / 1_000))
    mark(request, { limit: requestsMax, remaining: 0, resetAtSeconds: Math.ceil(opensAt / 1_000), retryAfterSeconds })
    return Effect.die(refusal(retryAfterSeconds))
  })

/**
 * Makes a limit of requests by address alone, over all organizations: so many in a minute, or a 429. Where the
 * credentials are checked before, `exemptsServers` leaves out requests with a secret key.
 */
export const limitByAddress = Effect.fnUntraced(function* (options: {
  readonly name: string
  readonly requestsMax: number
  readonly exemptsServers: boolean
}) {
  const limits = yield* RateLimits
  const origins = yield* Origins
  const { name, requestsMax, exemptsServers } = options
  const limit = limits.byAddress(name, requestsMax)
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (exemptsServers && /^bearer sk_/i.test(request.headers["authorization"] ?? "")) return Effect.void
    const { retryAfterSeconds, resetAtSeconds } = limit.pass(countedAddress(origins.of(request).address))
    return retryAfterSeconds === undefined ? Effect.void : refuseNow(request, requestsMax, resetAtSeconds * 1_000)
  })
})

/** Makes the function that counts requests without a credential: so many of an address in a minute, or a 429. */
export const countByAddress = Effect.fnUntraced(function* (options: {
  readonly name: string
  readonly requestsMax: number
}) {
  const limits = yield* RateLimits
  const origins = yield* Origins
  const limit = limits.byAddress(options.name, options.requestsMax)
  return (request: Request): Effect.Effect<void> => {
    const status = limit.pass(countedAddress(origins.of(request).address))
    mark(request.source, status)
    const { retryAfterSeconds } = status
    return retryAfterSeconds === undefined ? Exit.void : Effect.die(refusal(retryAfterSeconds))
  }
})

/**
 * Finds the limit status for the responses of an API. Requests of an unknown organization (401, unknown paths) are
 * counted here, by address, under the general limit of the API in the default plan. Preflights and failures of the
 * server are not counted.
 */
export const limitStatus = Effect.gen(function* () {
  const limits = yield* RateLimits
  const origins = yield* Origins

  const statusOfUnknown = (api: Api, request: Request, response: Response): LimitStatus => {
    const address = countedAddress(origins.of(request).address)
    const isCounted = response.status < 500 && request.method !== "OPTIONS"
    return isCounted ? limits.passUnknown(api, address) : limits.statusOfUnknown(api, address)
  }

  /** Returns the status, if the path has limits, and the response or the refusal that replaces it. */
  return (api: Api) =>
    (request: Request, response: Response): { readonly response: Response; readonly limit?: LimitStatus } => {
      if (!isLimited(request.url)) return { response }
      const known = (request.source as Marked)[marked]
      const limit = known ?? statusOfUnknown(api, request, response)
      const isRefused = known === undefined && limit.retryAfterSeconds !== undefined
      return { limit, response: isRefused ? refusal(limit.retryAfterSeconds) : response }
    }
})

/** True for paths under `/api`. Other paths have no limits. */
const isLimited = (url: string): boolean => /^\/api(?:[/?]|$)/.test(url)

const marked = Symbol("usher/http/limits/status")

/** The request of the platform. It is the same object in all middlewares. */
interface Marked {
  [marked]?: LimitStatus
}

/** Notes the limit status of a request that was counted, for its answer. `source` is the request of the platform. */
export function mark(source: object, status: LimitStatus): void {
  ;(source as Marked)[marked] = status
}

const refusal = (retryAfterSeconds: number): Response =>
  HttpServerResponse.jsonUnsafe(
    { error: "Rate limit exceeded", retryAfter: retryAfterSeconds },
    { status: 429, headers: { "retry-after": `${retryAfterSeconds}` } }
  )
