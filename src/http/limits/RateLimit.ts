/**
 * Rate limits on the way of a request (interface document 8.2). Each operation asks here once its organization is known,
 * before anything else is looked up or decoded; the envelope puts on each response how its caller stands.
 */
import { Clock, Context, Effect, Exit } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { RateLimitExceeded } from "../errors/Errors.ts"
import { type Api, RateCategory } from "./Limit.ts"
import type { LimitStatus } from "./LimitStatus.ts"
import { RateLimits } from "./RateLimits.ts"
import { countedAddress, Origins } from "../server/Origins.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/**
 * Counts a request of the key's organization, or ends it with a 429. The consumer is named where it acts for itself.
 *
 * The 429 is on every operation's declaration (`RateLimitExceeded`), but leaves as a finished response, past the encoder:
 * a refusal must cost less than an answer.
 */
export type Admission = (request: Request, holder: KeyHolder, consumerId?: string) => Effect.Effect<void>

/** Makes the admission of each operation, from the category on its declaration. */
export const admissions = Effect.gen(function* () {
  const limits = yield* RateLimits
  const origins = yield* Origins
  return (api: Api, endpoint: HttpApiEndpoint.Top): Admission => {
    const gate = limits.gate(api, Context.get(endpoint.annotations, RateCategory))
    return (request, holder, consumerId) => {
      const outcome = gate.pass({
        organizationId: holder.tenant.organizationId,
        rateLimits: holder.rateLimits,
        // An organization's server speaks for many: only callers with the public key are told apart.
        ...(holder.kind === "publishable" && {
          address: () => countedAddress(origins.of(request).address),
          ...(consumerId !== undefined && { consumerId })
        })
      })
      return Effect.isEffect(outcome)
        ? Effect.flatMap(outcome, (standing) => admitted(request, standing))
        : admitted(request, outcome)
    }
  }
})

/** Whether a request comes from where too many requests with no good key came from. */
export const exhaustion = Effect.gen(function* () {
  const limits = yield* RateLimits
  const origins = yield* Origins
  return (request: Request): boolean => limits.isUnknownRefused(() => countedAddress(origins.of(request).address))
})

/**
 * Refuses a request because of a limit that is not among those above, such as that of codes to one address. The answer
 * describes this limit: `requestsMax` requests, and the next may be made at `opensAt`.
 */
export const refuse = Effect.fnUntraced(function* (request: Request, requestsMax: number, opensAt: Millis) {
  const now = yield* Clock.currentTimeMillis
  const retryAfterSeconds = Math.max(1, Math.ceil((opensAt - now) / 1_000))
  const resetAtSeconds = Math.ceil(opensAt / 1_000)
  mark(request, { limit: requestsMax, remaining: 0, resetAtSeconds, retryAfterSeconds })
  return yield* new RateLimitExceeded({ retryAfterSeconds })
})

/**
 * Says on the responses of an API how their callers stand. Those whose organization is not known (401, unknown paths) are
 * counted here, by address, under the API's general limit of the default plan; a preflight and a failure of ours are not.
 */
export const limitStatus = Effect.gen(function* () {
  const limits = yield* RateLimits
  const origins = yield* Origins

  const standingOfUnknown = (api: Api, request: Request, response: Response): LimitStatus => {
    const address = countedAddress(origins.of(request).address)
    const isCounted = response.status < 500 && request.method !== "OPTIONS"
    return isCounted ? limits.passUnknown(api, address) : limits.standingOfUnknown(api, address)
  }

  /** Adds to the headers; answers the response, or the refusal that takes its place. */
  return (api: Api) =>
    (request: Request, response: Response, headers: Record<string, string>): Response => {
      if (!isLimited(request.url)) return response
      const known = (request.source as Marked)[marked]
      const { limit, remaining, resetAtSeconds, retryAfterSeconds } = known ?? standingOfUnknown(api, request, response)
      headers["x-ratelimit-limit"] = `${limit}`
      headers["x-ratelimit-remaining"] = `${remaining}`
      headers["x-ratelimit-reset"] = `${resetAtSeconds}`
      if (known !== undefined || retryAfterSeconds === undefined) return response
      return refusal(retryAfterSeconds)
    }
})

/** Everything under `/api`; what is outside has no limits. */
const isLimited = (url: string): boolean => /^\/api(?:[/?]|$)/.test(url)

const marked = Symbol("usher/http/standing")

/** The platform's request, which is one and the same from the first middleware to the last. */
interface Marked {
  [marked]?: LimitStatus
}

function mark(request: Request, standing: LimitStatus): void {
  ;(request.source as Marked)[marked] = standing
}

function admitted(request: Request, standing: LimitStatus): Effect.Effect<void> {
  mark(request, standing)
  const { retryAfterSeconds } = standing
  return retryAfterSeconds === undefined ? Exit.void : Effect.die(refusal(retryAfterSeconds))
}

const refusal = (retryAfterSeconds: number): Response =>
  HttpServerResponse.jsonUnsafe(
    { error: "Rate limit exceeded", retryAfter: retryAfterSeconds },
    { status: 429, headers: { "retry-after": `${retryAfterSeconds}` } }
  )
