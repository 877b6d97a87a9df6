/**
 * Who is calling (completions 2). Each class of operations has one middleware here; it accepts the credentials of its row
 * and provides what they prove. A known key and a known token cost no SQL and no signature check.
 *
 * `requirement` is the same row as OpenAPI says it; `describe` in `OpenApi.ts` puts it on every operation.
 */
import { Context, Effect, Layer, Result, Schema } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ApiKeys, type KeyHolder } from "../auth/ApiKeys.ts"
import { Consumers } from "../auth/Consumers.ts"
import { Tokens, type VerifiedAccess } from "../auth/Tokens.ts"
import { Id, sameTenant, type Tenant } from "../domain/Ids.ts"
import {
  NotFound,
  RateLimitExceededWithHeaders,
  ServiceUnavailable,
  ServiceUnavailableWithHeaders,
  Unauthorized,
  ValidationError
} from "./Errors.ts"
import { issueAt } from "./Issues.ts"
import { type Admission, admissions, exhaustion } from "./RateLimit.ts"
import { invalidInput } from "./Validation.ts"

/** The tenant a key speaks for, and the key's name in records: `createdBy`, `statusOverrideBy` and the like. */
export class CurrentTenant extends Context.Service<CurrentTenant, { readonly tenant: Tenant; readonly by: string }>()(
  "usher/http/CurrentTenant"
) {}

/** The consumer that acts, or for whom its organization's server acts. */
export class CurrentConsumer extends Context.Service<
  CurrentConsumer,
  { readonly tenant: Tenant; readonly consumerId: string; readonly isGuest: boolean }
>()("usher/http/CurrentConsumer") {}

/** The session whose access token was shown; empty where none was needed. */
export class CurrentSession extends Context.Service<CurrentSession, { readonly access?: VerifiedAccess }>()(
  "usher/http/CurrentSession"
) {}

/** One of the credentials an operation accepts: OpenAPI security schemes that are all needed together. */
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
  consumerId: {
    type: "apiKey",
    in: "header",
    name: "X-Consumer-Id",
    description: "With the secret key: the consumer the server acts for."
  }
} as const

const keyErrors = [Unauthorized, RateLimitExceededWithHeaders, ServiceUnavailableWithHeaders] as const

/** Public reads: publishable key, or secret key. */
export class PublicRead extends HttpApiMiddleware.Service<PublicRead, { provides: CurrentTenant }>()(
  "usher/http/PublicRead",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ publishableKey: [] }, { secretKey: [] }]
  static readonly layer = Layer.effect(
    PublicRead,
    Effect.gen(function* () {
      const { anyKey, admission } = yield* makeChecks
      return (handle, { endpoint }) => withTenant(anyKey, admission("consumer", endpoint), handle)
    })
  )
}

/** Session creation: publishable key. */
export class SessionCreation extends HttpApiMiddleware.Service<SessionCreation, { provides: CurrentTenant }>()(
  "usher/http/SessionCreation",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ publishableKey: [] }]
  static readonly layer = Layer.effect(
    SessionCreation,
    Effect.gen(function* () {
      const { publishableKey, admission } = yield* makeChecks
      return (handle, { endpoint }) => withTenant(publishableKey, admission("consumer", endpoint), handle)
    })
  )
}

/** One-time code verification: publishable key, and with it, if there is a guest to be upgraded, its access token. */
export class SessionUpgrade extends HttpApiMiddleware.Service<
  SessionUpgrade,
  { provides: CurrentTenant | CurrentSession }
>()("usher/http/SessionUpgrade", { error: keyErrors }) {
  static readonly requirement: ReadonlyArray<Requirement> = [
    { publishableKey: [] },
    { publishableKey: [], accessToken: [] }
  ]
  static readonly layer = Layer.effect(
    SessionUpgrade,
    Effect.gen(function* () {
      const { publishableKey, sessionOf, admission } = yield* makeChecks
      return (handle, { endpoint }) =>
        withTenant(
          publishableKey,
          admission("consumer", endpoint),
          Effect.flatMap(Effect.all([CurrentTenant, HttpServerRequest.HttpServerRequest]), ([{ tenant }, request]) =>
            Effect.flatMap(
              bearerOf(request) === undefined ? Effect.succeed({}) : sessionOf(request, tenant),
              (session) => Effect.provideService(handle, CurrentSession, session)
            )
          )
        )
    })
  )
}

/** Logout: the access token alone. */
export class SessionEnd extends HttpApiMiddleware.Service<SessionEnd, { provides: CurrentSession }>()(
  "usher/http/SessionEnd",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ accessToken: [] }]
  static readonly layer = Layer.effect(
    SessionEnd,
    Effect.gen(function* () {
      const { sessionOf } = yield* makeChecks
      return (handle) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.flatMap(sessionOf(request), (session) => Effect.provideService(handle, CurrentSession, session))
        )
    })
  )
}

/** Consumer actions: publishable key and access token of the same tenant; or secret key and `X-Consumer-Id`. */
export class ConsumerAction extends HttpApiMiddleware.Service<ConsumerAction, { provides: CurrentConsumer }>()(
  "usher/http/ConsumerAction",
  { error: [...keyErrors, NotFound, ValidationError] }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [
    { publishableKey: [], accessToken: [] },
    { secretKey: [], consumerId: [] }
  ]
  static readonly layer = Layer.effect(
    ConsumerAction,
    Effect.gen(function* () {
      const { consumer, admission } = yield* makeChecks
      return (handle, { endpoint }) => withConsumer(consumer(admission("consumer", endpoint)), handle)
    })
  )
}

/** Server actions on the Consumer API: secret key. */
export class ServerAction extends HttpApiMiddleware.Service<ServerAction, { provides: CurrentTenant }>()(
  "usher/http/ServerAction",
  { error: keyErrors }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }]
  static readonly layer = Layer.effect(
    ServerAction,
    Effect.gen(function* () {
      const { secretKey, admission } = yield* makeChecks
      return (handle, { endpoint }) => withTenant(secretKey, admission("consumer", endpoint), handle)
    })
  )
}

/** Every operation of the Admin API: secret key. */
export class AdminKey extends HttpApiMiddleware.Service<AdminKey, { provides: CurrentTenant }>()(
  "usher/http/AdminKey",
  {
    error: keyErrors
  }
) {
  static readonly requirement: ReadonlyArray<Requirement> = [{ secretKey: [] }]
  static readonly layer = Layer.effect(
    AdminKey,
    Effect.gen(function* () {
      const { secretKey, admission } = yield* makeChecks
      return (handle, { endpoint }) => withTenant(secretKey, admission("admin", endpoint), handle)
    })
  )
}

/** Everything the middlewares of the Consumer API need; the Admin API needs `AdminKey.layer` alone. */
export const layerConsumer = Layer.mergeAll(
  PublicRead.layer,
  SessionCreation.layer,
  SessionUpgrade.layer,
  SessionEnd.layer,
  ConsumerAction.layer,
  ServerAction.layer
)

type Request = HttpServerRequest.HttpServerRequest
type KeyRefusal = Unauthorized | ServiceUnavailable
type ConsumerRefusal = KeyRefusal | NotFound | ValidationError
type Check<A, E> = (request: Request) => Effect.Effect<A, E>

interface ActingConsumer {
  readonly holder: KeyHolder
  readonly consumer: CurrentConsumer["Service"]
}

const authenticationRequired = new Unauthorized({ error: "Authentication required" })
const secretKeyRequired = new Unauthorized({ error: "Secret key required" })

const makeChecks = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tokens = yield* Tokens
  const consumers = yield* Consumers

  const admission = yield* admissions
  const isExhausted = yield* exhaustion

  /** Who the key speaks for. A caller with too many bad requests behind it has only keys that are known already. */
  const lookup = (request: Request, key: string | undefined) => {
    if (key === undefined) return Effect.undefined
    const found = isExhausted(request) ? keys.lookupRemembered(key) : keys.lookup(key)
    return Effect.catchTag(found, "Unavailable", outOfReach)
  }

  const verifyAccess = (token: string) => Effect.catchTag(tokens.verifyAccess(token), "Unavailable", outOfReach)

  const publishableKey: Check<KeyHolder, KeyRefusal> = (request) =>
    Effect.flatMap(lookup(request, request.headers["x-publishable-key"]), (holder) =>
      holder?.kind === "publishable" ? Effect.succeed(holder) : Effect.fail(authenticationRequired)
    )

  /** The holder of a secret key; another key is refused with `otherwise`. */
  const secretHolder = (request: Request, key: string, otherwise: Unauthorized) =>
    Effect.flatMap(lookup(request, key), (holder) => {
      if (holder === undefined) return Effect.fail(authenticationRequired)
      return holder.kind === "secret" ? Effect.succeed(holder) : Effect.fail(otherwise)
    })

  const anyKey: Check<KeyHolder, KeyRefusal> = (request) => {
    const bearer = bearerOf(request)
    return isKey(bearer) ? secretHolder(request, bearer, authenticationRequired) : publishableKey(request)
  }

  const secretKey: Check<KeyHolder, KeyRefusal> = (request) => {
    const bearer = bearerOf(request)
    if (isKey(bearer)) return secretHolder(request, bearer, secretKeyRequired)
    // A credential that is good elsewhere is told apart from one that is good nowhere.
    const other: Effect.Effect<unknown, ServiceUnavailable> =
      bearer === undefined ? lookup(request, request.headers["x-publishable-key"]) : verifyAccess(bearer)
    return Effect.flatMap(other, (known) =>
      Effect.fail(known === undefined ? authenticationRequired : secretKeyRequired)
    )
  }

  const consumerByToken = (
    request: Request,
    token: string,
    admit: Admission
  ): Effect.Effect<ActingConsumer, ConsumerRefusal> =>
    Effect.flatMap(publishableKey(request), (holder) =>
      Effect.flatMap(verifyAccess(token), (access): Effect.Effect<ActingConsumer, ConsumerRefusal> => {
        if (access === undefined || !sameTenant(access.tenant, holder.tenant))
          return Effect.fail(authenticationRequired)
        const { consumerId, sessionType } = access
        const consumer = { tenant: holder.tenant, consumerId, isGuest: sessionType === "guest" }
        return Effect.as(admit(request, holder, consumerId), { holder, consumer })
      })
    )

  /** The session of the token that was shown; it must be one, and the tenant's if there is a tenant. */
  const sessionOf = (request: Request, tenant?: Tenant): Effect.Effect<CurrentSession["Service"], KeyRefusal> => {
    const bearer = bearerOf(request)
    if (bearer === undefined || isKey(bearer)) return Effect.fail(authenticationRequired)
    return Effect.flatMap(verifyAccess(bearer), (access) =>
      access === undefined || (tenant !== undefined && !sameTenant(access.tenant, tenant))
        ? Effect.fail(authenticationRequired)
        : Effect.succeed({ access })
    )
  }

  const consumerByServer = Effect.fnUntraced(function* (request: Request, key: string, admit: Admission) {
    const holder = yield* secretHolder(request, key, authenticationRequired)
    const header = request.headers["x-consumer-id"]
    if (header === undefined) return yield* authenticationRequired
    yield* admit(request, holder)
    const id = decodeId(header)
    if (Result.isFailure(id)) return yield* malformedConsumerId(header)
    const { tenant } = holder
    const consumerId = id.success
    const found = yield* Effect.catchTag(consumers.find(tenant, consumerId), "Unavailable", outOfReach)
    if (found === undefined) return yield* NotFound.of("Consumer")
    return { holder, consumer: { tenant, consumerId, isGuest: found.isGuest } }
  })

  const consumer =
    (admit: Admission): Check<ActingConsumer, ConsumerRefusal> =>
    (request) => {
      const bearer = bearerOf(request)
      if (bearer === undefined) return Effect.fail(authenticationRequired)
      return isKey(bearer) ? consumerByServer(request, bearer, admit) : consumerByToken(request, bearer, admit)
    }

  return { publishableKey, anyKey, secretKey, consumer, sessionOf, admission }
})

const decodeId = Schema.decodeUnknownResult(Id)

const malformedConsumerId = (header: string) =>
  invalidInput([
    issueAt({ "x-consumer-id": header }, "x-consumer-id", { kind: "validation", type: "uuid", expected: "a UUID" })
  ])

const outOfReach = () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))

/** What follows `Bearer ` in `Authorization`. */
function bearerOf(request: Request): string | undefined {
  const header = request.headers["authorization"]
  return header !== undefined && /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : undefined
}

function isKey(bearer: string | undefined): bearer is string {
  return bearer !== undefined && bearer.charAt(2) === "_" && (bearer.startsWith("sk_") || bearer.startsWith("pk_"))
}

/** Runs the operation for the key's tenant, if it may make another request. */
const withTenant = <A, E, R>(
  check: Check<KeyHolder, KeyRefusal>,
  admit: Admission,
  handle: Effect.Effect<A, E, R | CurrentTenant>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.flatMap(check(request), (holder) => {
      restrictOrigin(fiber.context, request, holder)
      const current = { tenant: holder.tenant, by: `api_key:${holder.keyId}` }
      return Effect.andThen(admit(request, holder), Effect.provideService(handle, CurrentTenant, current))
    })
  })

/** Runs the operation for the consumer. */
const withConsumer = <A, E, R>(
  check: Check<ActingConsumer, ConsumerRefusal>,
  handle: Effect.Effect<A, E, R | CurrentConsumer>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.flatMap(check(request), ({ holder, consumer }) => {
      restrictOrigin(fiber.context, request, holder)
      return Effect.provideService(handle, CurrentConsumer, consumer)
    })
  })

/**
 * Answers of the Consumer API may be read from any origin, unless the organization names its own: then only from those.
 * (A preflight carries no key, so that the organization is only known here.)
 */
function restrictOrigin(context: Context.Context<never>, request: Request, holder: KeyHolder): void {
  const origin = request.headers["origin"]
  if (origin === undefined || holder.allowedOrigins === undefined) return
  const allowed = holder.allowedOrigins.includes(origin)
  HttpEffect.appendPreResponseHandlerUnsafe(context, (_, response) =>
    Effect.succeed(
      allowed
        ? HttpServerResponse.setHeaders(response, { "access-control-allow-origin": origin, vary: "Origin" })
        : HttpServerResponse.removeHeader(response, "access-control-allow-origin")
    )
  )
}
