/**
 * How what a request shows is looked up: keys, access tokens, and the consumer a server names. A check that passes answers
 * who is calling; `Credentials.ts` says which operations use which.
 */
import { Effect, Result, Schema } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiKeys, type KeyHolder } from "../../auth/keys/ApiKeys.ts"
import { Consumers } from "../../auth/sessions/Consumers.ts"
import { Tokens, type VerifiedAccess } from "../../auth/tokens/Tokens.ts"
import { Id, sameTenant, type Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { NotFound, ServiceUnavailable, Unauthorized, type ValidationError } from "../errors/Errors.ts"
import { issueAt } from "../errors/Issues.ts"
import { type Admission, admissions, exhaustion } from "../limits/RateLimit.ts"
import { invalidInput } from "../errors/Validation.ts"

type Request = HttpServerRequest.HttpServerRequest
export type KeyRefusal = Unauthorized | ServiceUnavailable
export type ConsumerRefusal = KeyRefusal | NotFound | ValidationError
export type Check<A, E> = (request: Request) => Effect.Effect<A, E>

/** A consumer, or a server for it, and the key that was shown. */
export interface ActingConsumer {
  readonly holder: KeyHolder
  readonly consumer: {
    readonly tenant: Tenant
    readonly consumerId: string
    readonly isGuest: boolean
    /** Of the key that was shown. */
    readonly keyId: string
    /** The session whose token was shown; absent where a server acts for the consumer. */
    readonly sessionId?: string
    /** The secret key as records name it, where a server acts for the consumer. */
    readonly by?: string
  }
}

/** A key as records name it: `createdBy`, `statusOverrideBy` and the like. */
export const nameOf = ({ keyId }: KeyHolder): string => `api_key:${keyId}`

/** A session whose token was shown without a key, and the publishable key of its tenant. */
export interface ActingSession {
  readonly holder: KeyHolder
  readonly access: VerifiedAccess
}

/** Credentials that are needed for longer than a request. */
export interface StreamCredentials {
  /** True once the access token has expired or its session is known here to have ended. Costs next to nothing. */
  hasEnded(now: Millis): boolean
  /**
   * Whether they would be let in again. While the database is out of reach, and what is remembered does not tell, they are
   * taken to be good still: nothing new happens then either.
   */
  areGood(): Effect.Effect<boolean>
}

const authenticationRequired = new Unauthorized({ error: "Authentication required" })
const secretKeyRequired = new Unauthorized({ error: "Secret key required" })

/** The checks, on what `auth/` knows; and how callers that pass are counted. */
export const makeChecks = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tokens = yield* Tokens
  const consumers = yield* Consumers

  const admission = yield* admissions
  const isExhausted = yield* exhaustion

  /** Who the key speaks for. A caller with too many bad requests behind it has only keys that are known already. */
  const lookup = (request: Request, key: string | undefined, find = keys.lookup) => {
    if (key === undefined) return Effect.undefined
    const found = isExhausted(request) ? keys.lookupRemembered(key) : find(key)
    return restrictingOrigin(request, Effect.catchTag(found, "Unavailable", outOfReach))
  }

  const verifyAccess = (token: string, verify = tokens.verifyAccess) =>
    Effect.catchTag(verify(token), "Unavailable", outOfReach)

  const publishableBy =
    (find: typeof keys.lookup): Check<KeyHolder, KeyRefusal> =>
    (request) =>
      Effect.flatMap(lookup(request, request.headers["x-publishable-key"], find), (holder) =>
        holder?.kind === "publishable" ? Effect.succeed(holder) : Effect.fail(authenticationRequired)
      )
  const publishableKey = publishableBy(keys.lookup)
  const publishableKeyForStatus = publishableBy(keys.lookupForStatus)

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
    admit: Admission,
    isForStatus: boolean
  ): Effect.Effect<ActingConsumer, ConsumerRefusal> =>
    Effect.flatMap(isForStatus ? publishableKeyForStatus(request) : publishableKey(request), (holder) =>
      Effect.flatMap(
        verifyAccess(token, isForStatus ? tokens.verifyForStatus : tokens.verifyAccess),
        (access): Effect.Effect<ActingConsumer, ConsumerRefusal> => {
          if (access === undefined || !sameTenant(access.tenant, holder.tenant))
            return Effect.fail(authenticationRequired)
          const { consumerId, sessionType, sessionId } = access
          const { tenant, keyId } = holder
          const consumer = { tenant, consumerId, isGuest: sessionType === "guest", keyId, sessionId }
          return Effect.as(admit(request, holder, consumerId), { holder, consumer })
        }
      )
    )

  /** What the token that was shown says; it must be one, and the tenant's if there is a tenant. */
  const accessOf = (request: Request, tenant?: Tenant): Effect.Effect<VerifiedAccess, KeyRefusal> => {
    const bearer = bearerOf(request)
    if (bearer === undefined || isKey(bearer)) return Effect.fail(authenticationRequired)
    return Effect.flatMap(verifyAccess(bearer), (access) =>
      access === undefined || (tenant !== undefined && !sameTenant(access.tenant, tenant))
        ? Effect.fail(authenticationRequired)
        : Effect.succeed(access)
    )
  }

  /** A caller without a key is counted, and held to its origins, as one that shows its tenant's publishable key. */
  const tokenAlone: Check<ActingSession, KeyRefusal> = (request) =>
    Effect.flatMap(accessOf(request), (access) =>
      Effect.flatMap(
        restrictingOrigin(request, Effect.catchTag(keys.publishableOf(access.tenant), "Unavailable", outOfReach)),
        (holder): Effect.Effect<ActingSession, KeyRefusal> =>
          holder === undefined ? Effect.fail(authenticationRequired) : Effect.succeed({ holder, access })
      )
    )

  const consumerByServer = Effect.fnUntraced(function* (request: Request, key: string, admit: Admission) {
    const holder = yield* secretHolder(request, key, authenticationRequired)
    const header = request.headers["x-consumer-id"]
    if (header === undefined) return yield* authenticationRequired
    yield* admit(request, holder)
    const id = decodeId(header)
    if (Result.isFailure(id)) return yield* malformedConsumerId(header)
    const { tenant, keyId } = holder
    const consumerId = id.success
    const found = yield* Effect.catchTag(consumers.find(tenant, consumerId), "Unavailable", outOfReach)
    if (found === undefined) return yield* NotFound.of("Consumer")
    return { holder, consumer: { tenant, consumerId, isGuest: found.isGuest, keyId, by: nameOf(holder) } }
  })

  /** A consumer that acts, or, for a status read, one that was let in before the database went away. */
  const consumer =
    (admit: Admission, isForStatus = false): Check<ActingConsumer, ConsumerRefusal> =>
    (request) => {
      const bearer = bearerOf(request)
      // Refused in any case; but who is refused, and so where that may be read, the key says.
      if (bearer === undefined) return Effect.andThen(publishableKey(request), Effect.fail(authenticationRequired))
      return isKey(bearer)
        ? consumerByServer(request, bearer, admit)
        : consumerByToken(request, bearer, admit, isForStatus)
    }

  /** The credentials of a consumer that was let in, for as long as they may be needed. */
  const lasting: Check<StreamCredentials, ServiceUnavailable> = (request) => {
    const bearer = bearerOf(request)
    const shown = bearer === undefined || isKey(bearer) ? Effect.undefined : verifyAccess(bearer)
    return Effect.map(shown, (access) => new ShownCredentials(request, access, checkAgain))
  }

  const checkAgain = consumer(() => Effect.void)

  /** The same of a secret key by itself. */
  const lastingKey = (request: Request): StreamCredentials => new ShownCredentials(request, undefined, secretKey)

  /** A class, because there may be very many at a time. */
  class ShownCredentials implements StreamCredentials {
    private readonly request: Request
    private readonly access: VerifiedAccess | undefined
    private readonly again: Check<unknown, ConsumerRefusal>
    constructor(request: Request, access: VerifiedAccess | undefined, again: Check<unknown, ConsumerRefusal>) {
      this.request = request
      this.access = access
      this.again = again
    }
    hasEnded(now: Millis): boolean {
      return this.access !== undefined && tokens.hasEnded(this.access, now)
    }
    areGood(): Effect.Effect<boolean> {
      return Effect.match(this.again(this.request), {
        onSuccess: () => true,
        onFailure: (refusal) => refusal instanceof ServiceUnavailable
      })
    }
  }

  return { publishableKey, anyKey, secretKey, consumer, lasting, lastingKey, accessOf, tokenAlone, admission }
})

const decodeId = Schema.decodeUnknownResult(Id)

const malformedConsumerId = (header: string) =>
  invalidInput([
    issueAt({ "x-consumer-id": header }, "x-consumer-id", { kind: "validation", type: "uuid", expected: "a UUID" })
  ])

const allowOrigin = "access-control-allow-origin"

const outOfReach = () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))

/**
 * Answers of the Consumer API may be read from any origin, unless the organization names its own: then only from those,
 * refusals included, as soon as a key says which organization it is. (A preflight carries no key.)
 */
const restrictingOrigin = <E, R>(
  request: Request,
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

/** What follows `Bearer ` in `Authorization`. */
export function bearerOf(request: Request): string | undefined {
  const header = request.headers["authorization"]
  return header !== undefined && /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : undefined
}

function isKey(bearer: string | undefined): bearer is string {
  return bearer !== undefined && bearer.charAt(2) === "_" && (bearer.startsWith("sk_") || bearer.startsWith("pk_"))
}
