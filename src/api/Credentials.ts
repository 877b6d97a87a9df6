/**
 * The credentials of operations. Each class of operations has one middleware here, which provides the caller to its
 * handler. `requirement` lists the credentials for OpenAPI; `describe` in `OpenApi.ts` adds them to every operation.
 */
import { Context, type Effect } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { VerifiedAccess } from "../domain/consumer/Session.ts"
import type { OpenedGate } from "../domain/gate/Gate.ts"
import type { Tenant } from "../domain/values/Ids.ts"
import type { Millis } from "../domain/values/Time.ts"
import {
  NotFound,
  RateLimitExceededWithHeaders,
  ServiceUnavailableWithHeaders,
  Unauthorized,
  ValidationError
} from "./Errors.ts"

/** One set of credentials that an operation accepts: OpenAPI security schemes that are needed together. */
export type Requirement = { readonly [scheme in keyof typeof securitySchemes]?: readonly [] }

/** The OpenAPI security schemes. */
export const securitySchemes = {
  publishableKey: {
    type: "apiKey",
    in: "header",
    name: "X-Publishable-Key",
    description: "Publishable key of the organization: `pk_live_…` or `pk_test_…`."
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "Access token of a consumer's session."
  },
  secretKey: {
    type: "http",
    scheme: "bearer",
    description: "Secret key of the organization: `sk_live_…` or `sk_test_…`. For servers only."
  },
  gateKey: {
    type: "http",
    scheme: "bearer",
    description:
      "Key of a gate: `gk_live_…` or `gk_test_…`. It opens the gate's record and its queues, and nothing else."
  },
  consumerId: {
    type: "apiKey",
    in: "header",
    name: "X-Consumer-Id",
    description: "With the secret key: the consumer the server acts for."
  }
} as const

/**
 * The tenant, and the author as records name it: the API key, the gate, or a person of the dashboard. `gate` is present
 * if the request came with the key of a gate.
 */
export class CurrentTenant extends Context.Service<
  CurrentTenant,
  { readonly tenant: Tenant; readonly by: string; readonly gate?: OpenedGate | undefined }
>()("usher/api/CurrentTenant") {}

/** The consumer that acts, or that its organization's server acts for. */
export interface Consumer {
  readonly tenant: Tenant
  readonly consumerId: string
  readonly isGuest: boolean
  /** The session of the access token. Absent if a server acts for the consumer. */
  readonly sessionId?: string
  /** The secret key as records name it, if a server acts for the consumer. */
  readonly by?: string
}

export class CurrentConsumer extends Context.Service<CurrentConsumer, Consumer>()("usher/api/CurrentConsumer") {}

/** The credentials of a stream, which outlives its request. */
export interface StreamCredentials {
  /** True if the access token has expired or its session is known here to have ended. It reads memory only. */
  hasEnded(now: Millis): boolean
  /**
   * Checks whether the credentials would be accepted again. While the database is unavailable and memory does not have
   * the answer, they count as accepted, because nothing new happens then either.
   */
  areGood(): Effect.Effect<boolean>
}

export class CurrentStreamCredentials extends Context.Service<CurrentStreamCredentials, StreamCredentials>()(
  "usher/api/CurrentStreamCredentials"
) {}

/** The session of the access token. It is empty if the operation needs no token and got none. */
export class CurrentSession extends Context.Service<CurrentSession, { readonly access?: VerifiedAccess }>()(
  "usher/api/CurrentSession"
) {}

/** Errors of every operation that takes a key. */
export const keyErrors = [Unauthorized, RateLimitExceededWithHeaders, ServiceUnavailableWithHeaders] as const

/**
 * Operations without a credential. Their public answers are cached for all callers. A request names no organization, so
 * it counts for its client's address alone.
 */
export class Anyone extends HttpApiMiddleware.Service<Anyone>()("usher/api/Anyone", {
  error: [RateLimitExceededWithHeaders, ServiceUnavailableWithHeaders]
}) {
  static readonly requirement: ReadonlyArray<Requirement> = [{}]
}

/** Public reads: publishable key, or secret key. */
export class PublicRead extends HttpApiMiddleware.Service<PublicRead, { provides: CurrentTenant }>()(
  "usher/api/PublicRead",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ publishableKey: [] }, { secretKey: [] }]
}

/** Session creation: publishable key. */
export class SessionCreation extends HttpApiMiddleware.Service<SessionCreation, { provides: CurrentTenant }>()(
  "usher/api/SessionCreation",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ publishableKey: [] }]
}

/** One-time code verification: publishable key, and also the access token of a guest that is upgraded. */
export class SessionUpgrade extends HttpApiMiddleware.Service<
  SessionUpgrade,
  { provides: CurrentTenant | CurrentSession }
>()("usher/api/SessionUpgrade", { error: keyErrors }) {
  static readonly requirement: ReadonlyArray<Requirement> = [
    { publishableKey: [] },
    { publishableKey: [], accessToken: [] }
  ]
}

/** Logout: the access token alone. */
export class SessionEnd extends HttpApiMiddleware.Service<SessionEnd, { provides: CurrentSession }>()(
  "usher/api/SessionEnd",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ accessToken: [] }]
}

/** Consumer actions: publishable key and access token of the same tenant; or secret key and `X-Consumer-Id`. */
export class ConsumerAction extends HttpApiMiddleware.Service<ConsumerAction, { provides: CurrentConsumer }>()(
  "usher/api/ConsumerAction",
  { error: [...keyErrors, NotFound, ValidationError] }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [
    { publishableKey: [], accessToken: [] },
    { secretKey: [], consumerId: [] }
  ]
}

/** Streams for a consumer: the credentials of a consumer action, for as long as the stream lasts. */
export class ConsumerStream extends HttpApiMiddleware.Service<
  ConsumerStream,
  { provides: CurrentConsumer | CurrentStreamCredentials }
>()("usher/api/ConsumerStream", { error: [...keyErrors, NotFound, ValidationError] }) {
  static readonly requirement = ConsumerAction.requirement
}

/** Server actions on the Consumer API: secret key. */
export class ServerAction extends HttpApiMiddleware.Service<ServerAction, { provides: CurrentTenant }>()(
  "usher/api/ServerAction",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }]
}

/** What gates need: the secret key, or the key of a gate. The handler checks what the gate's key opens. */
export class GateAction extends HttpApiMiddleware.Service<GateAction, { provides: CurrentTenant }>()(
  "usher/api/GateAction",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }, { gateKey: [] }]
}

/** Every operation of the Admin API: secret key. */
export class AdminKey extends HttpApiMiddleware.Service<AdminKey, { provides: CurrentTenant }>()("usher/api/AdminKey", {
  error: keyErrors
}) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }]
}

/** The secret key behind a stream of the Admin API. It is used together with `AdminKey`, which checks the request. */
export class StreamKey extends HttpApiMiddleware.Service<StreamKey, { provides: CurrentStreamCredentials }>()(
  "usher/api/StreamKey"
) {}
