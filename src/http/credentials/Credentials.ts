/**
 * The callers of operations. Each class of operations has one middleware here. It accepts the credentials of its class
 * and provides the caller. A cached key and a cached token cost no SQL and no signature check.
 *
 * `requirement` lists the same credentials for OpenAPI; `describe` in `OpenApi.ts` adds them to every operation.
 */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { VerifiedAccess } from "../../auth/tokens/Tokens.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { ActingConsumer } from "./ActingConsumer.ts"
import {
  type ActingSession,
  bearerOf,
  type Check,
  type ConsumerRefusal,
  type KeyRefusal,
  type StreamCredentials,
  makeChecks,
  nameOf
} from "./CredentialChecks.ts"
import {
  NotFound,
  RateLimitExceededWithHeaders,
  ServiceUnavailableWithHeaders,
  Unauthorized,
  ValidationError
} from "../errors/Errors.ts"
import { malformedHeader } from "../errors/Validation.ts"
import type { Admission } from "../limits/RateLimit.ts"
import type { Requirement } from "./SecuritySchemes.ts"

/** The tenant of the key, and the key as records name it. */
export class CurrentTenant extends Context.Service<CurrentTenant, { readonly tenant: Tenant; readonly by: string }>()(
  "usher/http/credentials/CurrentTenant"
) {}

/** The consumer that acts, or that its organization's server acts for. */
export type Consumer = ActingConsumer["consumer"]

/** The consumer of the request. */
export class CurrentConsumer extends Context.Service<CurrentConsumer, Consumer>()(
  "usher/http/credentials/CurrentConsumer"
) {}

/** The credentials of a stream, which outlives its request. */
export class CurrentStreamCredentials extends Context.Service<CurrentStreamCredentials, StreamCredentials>()(
  "usher/http/credentials/LastingCredentials"
) {}

/** The session of the access token. It is empty if the operation needs no token and got none. */
export class CurrentSession extends Context.Service<CurrentSession, { readonly access?: VerifiedAccess }>()(
  "usher/http/credentials/CurrentSession"
) {}

const keyErrors = [Unauthorized, RateLimitExceededWithHeaders, ServiceUnavailableWithHeaders] as const

/** Makes a middleware that runs the operation for the tenant of the key. */
const byKey = (check: "anyKey" | "publishableKey" | "secretKey", api: "consumer" | "admin") =>
  Effect.map(
    makeChecks,
    ({ admission, ...checks }): HttpApiMiddleware.HttpApiMiddleware<CurrentTenant, typeof keyErrors, never> =>
      (handle, { endpoint }) =>
        withTenant(checks[check], admission(api, endpoint), handle)
  )

/** Public reads: publishable key, or secret key. */
export class PublicRead extends HttpApiMiddleware.Service<PublicRead, { provides: CurrentTenant }>()(
  "usher/http/credentials/PublicRead",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ publishableKey: [] }, { secretKey: [] }]
  static readonly layer = Layer.effect(PublicRead, byKey("anyKey", "consumer"))
}

/** Session creation: publishable key. */
export class SessionCreation extends HttpApiMiddleware.Service<SessionCreation, { provides: CurrentTenant }>()(
  "usher/http/credentials/SessionCreation",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ publishableKey: [] }]
  static readonly layer = Layer.effect(SessionCreation, byKey("publishableKey", "consumer"))
}

/** One-time code verification: publishable key, and also the access token of a guest that is upgraded. */
export class SessionUpgrade extends HttpApiMiddleware.Service<
  SessionUpgrade,
  { provides: CurrentTenant | CurrentSession }
>()("usher/http/credentials/SessionUpgrade", { error: keyErrors }) {
  static readonly requirement: ReadonlyArray<Requirement> = [
    { publishableKey: [] },
    { publishableKey: [], accessToken: [] }
  ]
  static readonly layer = Layer.effect(SessionUpgrade)(
    Effect.gen(function* () {
      const { publishableKey, accessOf, admission } = yield* makeChecks
      return (handle, { endpoint }) =>
        withTenant(
          publishableKey,
          admission("consumer", endpoint),
          Effect.flatMap(Effect.all([CurrentTenant, HttpServerRequest.HttpServerRequest]), ([{ tenant }, request]) =>
            Effect.flatMap(bearerOf(request) === undefined ? Effect.undefined : accessOf(request, tenant), (access) =>
              Effect.provideService(handle, CurrentSession, access === undefined ? {} : { access })
            )
          )
        )
    })
  )
}

/** Logout: the access token alone. */
export class SessionEnd extends HttpApiMiddleware.Service<SessionEnd, { provides: CurrentSession }>()(
  "usher/http/credentials/SessionEnd",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ accessToken: [] }]
  static readonly layer = Layer.effect(SessionEnd)(
    Effect.gen(function* () {
      const { tokenAlone, admission } = yield* makeChecks
      return (handle, { endpoint }) => withSession(tokenAlone, admission("consumer", endpoint), handle)
    })
  )
}

/** Whether an operation is a status read: it is answered from memory while the database is unreachable. */
export const StatusRead = Context.Reference<boolean>("usher/http/credentials/StatusRead", { defaultValue: () => false })

/** Consumer actions: publishable key and access token of the same tenant; or secret key and `X-Consumer-Id`. */
export class ConsumerAction extends HttpApiMiddleware.Service<ConsumerAction, { provides: CurrentConsumer }>()(
  "usher/http/credentials/ConsumerAction",
  { error: [...keyErrors, NotFound, ValidationError] }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [
    { publishableKey: [], accessToken: [] },
    { secretKey: [], consumerId: [] }
  ]
  static readonly layer = Layer.effect(ConsumerAction)(
    Effect.gen(function* () {
      const { consumer, admission } = yield* makeChecks
      return (handle, { endpoint }) => {
        const isStatusRead = Context.get(endpoint.annotations, StatusRead)
        return withConsumer(consumer(admission("consumer", endpoint), isStatusRead), endpoint, handle)
      }
    })
  )
}

/** Streams for a consumer: the credentials of a consumer action, for as long as the stream lasts. */
export class ConsumerStream extends HttpApiMiddleware.Service<
  ConsumerStream,
  { provides: CurrentConsumer | CurrentStreamCredentials }
>()("usher/http/credentials/ConsumerStream", { error: [...keyErrors, NotFound, ValidationError] }) {
  static readonly requirement = ConsumerAction.requirement
  static readonly layer = Layer.effect(ConsumerStream)(
    Effect.gen(function* () {
      const { consumer, lasting, admission } = yield* makeChecks
      return (handle, { endpoint }) =>
        withConsumer(
          consumer(admission("consumer", endpoint)),
          endpoint,
          Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
            Effect.flatMap(lasting(request), (credentials) =>
              Effect.provideService(handle, CurrentStreamCredentials, credentials)
            )
          )
        )
    })
  )
}

/** Server actions on the Consumer API: secret key. */
export class ServerAction extends HttpApiMiddleware.Service<ServerAction, { provides: CurrentTenant }>()(
  "usher/http/credentials/ServerAction",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }]
  static readonly layer = Layer.effect(ServerAction, byKey("secretKey", "consumer"))
}

/** Every operation of the Admin API: secret key. */
export class AdminKey extends HttpApiMiddleware.Service<AdminKey, { provides: CurrentTenant }>()(
  "usher/http/credentials/AdminKey",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }]
  static readonly layer = Layer.effect(AdminKey, byKey("secretKey", "admin"))
}

/** The middlewares of the Consumer API. The Admin API has `AdminKey.layer` only. */
export const layerConsumer = Layer.mergeAll(
  PublicRead.layer,
  SessionCreation.layer,
  SessionUpgrade.layer,
  SessionEnd.layer,
  ConsumerAction.layer,
  ConsumerStream.layer,
  ServerAction.layer
)

/** Runs the operation for the tenant of the key, if its rate limits allow it. */
const withTenant = <E, R>(
  check: Check<KeyHolder, KeyRefusal>,
  admit: Admission,
  handle: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | CurrentTenant>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.flatMap(check(request), (holder) => {
      const current = { tenant: holder.tenant, by: nameOf(holder) }
      const answer = Effect.provideService(handle, CurrentTenant, current)
      return Effect.andThen(
        admit(request, holder),
        Effect.map(answer, (response) => {
          admit.charge(request, holder, response)
          return response
        })
      )
    })
  })

/** Runs the operation for the session, if its organization's rate limits allow it. */
const withSession = <A, E, R>(
  check: Check<ActingSession, KeyRefusal>,
  admit: Admission,
  handle: Effect.Effect<A, E, R | CurrentSession>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.flatMap(check(request), ({ holder, access }) => {
      const admitted = admit(request, holder, access.consumerId)
      return Effect.andThen(admitted, Effect.provideService(handle, CurrentSession, { access }))
    })
  })

/** Runs the operation for the consumer. */
const withConsumer = <A, E, R>(
  check: Check<ActingConsumer, ConsumerRefusal>,
  endpoint: HttpApiEndpoint.Top,
  handle: Effect.Effect<A, E, R | CurrentConsumer>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const checked = Effect.catchIf(
      check(request),
      (refusal) => refusal instanceof ValidationError,
      (found) => malformedHeader(endpoint, found)
    )
    return Effect.flatMap(checked, ({ consumer }) => Effect.provideService(handle, CurrentConsumer, consumer))
  })
