/**
 * Operations without a credential. Their public answers are cached for all callers. A request names no organization, so
 * it counts for its client's address alone.
 */
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { RateLimitExceededWithHeaders, ServiceUnavailableWithHeaders } from "../errors/Errors.ts"
import { openAdmission } from "../limits/RateLimit.ts"
import type { Requirement } from "./SecuritySchemes.ts"

/** Requests of one address in a minute. Few addresses belong to more callers than one. */
export const openRequestsMax = 12_000

export class Anyone extends HttpApiMiddleware.Service<Anyone>()("usher/http/credentials/Anyone", {
  error: [RateLimitExceededWithHeaders, ServiceUnavailableWithHeaders]
}) {
  static readonly requirement: ReadonlyArray<Requirement> = [{}]
  static readonly layer = Layer.effect(
    Anyone,
    Effect.map(
      openAdmission({ name: "open", requestsMax: openRequestsMax }),
      (admit) => (handle) => Effect.andThen(Effect.flatMap(HttpServerRequest.HttpServerRequest, admit), handle)
    )
  )
}
