/**
 * How what a request shows is looked up: keys, access tokens, and the consumer a server names. A check that passes answers
 * who is calling; `Credentials.ts` says which operations use which.
 */
import { Effect, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ApiKeys, type KeyHolder } from "../../auth/keys/ApiKeys.ts"
import { Consumers } from "../../auth/sessions/Consumers.ts"
import { Tokens, type VerifiedAccess } from "../../auth/tokens/Tokens.ts"
import { Id, sameTenant, type Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { NotFound, ServiceUnavailable, Unauthorized, type ValidationError } from "../errors/Errors.ts"
import { issueAt } from "../errors/Issues.ts"
import { type Admission, admissions, exhaustion } from "../limits/RateLimit.ts"
import { invalidInput } from "../errors/Validation.ts"
import { restrictingOrigin } from "./AllowedOrigins.ts"

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

/** The checks of all classes of operations, and how callers that pass are counted. */
export const makeChecks = Effect.gen(function* () {
  const keys = yield* makeKeyChecks
  const { consumer, ...tokens } = yield* makeTokenChecks(keys)
  const streams = yield* makeStreamCredentials(
    consumer(() => Effect.void),
    keys
  )
  const { publishableKey, anyKey, secretKey } = keys
  return { publishableKey, anyKey, secretKey, consumer, ...tokens, ...streams, admission: yield* admissions }
})

type KeyChecks = Effect.Success<typeof makeKeyChecks>

const makeKeyChecks = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tokens = yield* Tokens
  const isExhausted = yield* exhaustion

  /** Who the key speaks for. A caller with too many bad requests behind it has only keys that are known already. */
  const lookup = (request: Request, key: string | undefined) => {
    if (key === undefined) return Effect.undefined
    const found = isExhausted(request) ? keys.lookupRemembered(key) : keys.lookup(key)
    return restrictingOrigin(request, Effect.catchTag(found, "Unavailable", outOfReach))
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

  return { verifyAccess, publishableKey, secretHolder, anyKey, secretKey }
})

/** The check of a server that acts for the consumer it names. */
const makeConsumerByServer = Effect.fnUntraced(function* ({ secretHolder }: KeyChecks) {
  const consumers = yield* Consumers
  return Effect.fnUntraced(function* (request: Request, key: string, admit: Admission) {
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
})

const makeTokenChecks = Effect.fnUntraced(function* (checks: KeyChecks) {
  const { verifyAccess, publishableKey } = checks
  const keys = yield* ApiKeys
  const consumerByServer = yield* makeConsumerByServer(checks)

  const consumerByToken = (
    request: Request,
    token: string,
    admit: Admission
  ): Effect.Effect<ActingConsumer, ConsumerRefusal> =>
    Effect.flatMap(publishableKey(request), (holder) =>
      Effect.flatMap(verifyAccess(token), (access): Effect.Effect<ActingConsumer, ConsumerRefusal> => {
        if (access === undefined || !sameTenant(access.tenant, holder.tenant))
          return Effect.fail(authenticationRequired)
        const { consumerId, sessionType, sessionId } = access
        const { tenant, keyId } = holder
        const consumer = { tenant, consumerId, isGuest: sessionType === "guest", keyId, sessionId }
        return Effect.as(admit(request, holder, consumerId), { holder, consumer })
      })
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

  const consumer =
    (admit: Admission): Check<ActingConsumer, ConsumerRefusal> =>
    (request) => {
      const bearer = bearerOf(request)
      // Refused in any case; but who is refused, and so where that may be read, the key says.
      if (bearer === undefined) return Effect.andThen(publishableKey(request), Effect.fail(authenticationRequired))
      return isKey(bearer) ? consumerByServer(request, bearer, admit) : consumerByToken(request, bearer, admit)
    }

  return { consumer, accessOf, tokenAlone }
})

const makeStreamCredentials = Effect.fnUntraced(function* (
  checkAgain: Check<ActingConsumer, ConsumerRefusal>,
  { verifyAccess, secretKey }: KeyChecks
) {
  const tokens = yield* Tokens

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

  /** The credentials of a consumer that was let in, for as long as they may be needed. */
  const lasting: Check<StreamCredentials, ServiceUnavailable> = (request) => {
    const bearer = bearerOf(request)
    const shown = bearer === undefined || isKey(bearer) ? Effect.undefined : verifyAccess(bearer)
    return Effect.map(shown, (access) => new ShownCredentials(request, access, checkAgain))
  }

  /** The same of a secret key by itself. */
  const lastingKey = (request: Request): StreamCredentials => new ShownCredentials(request, undefined, secretKey)

  return { lasting, lastingKey }
})

const decodeId = Schema.decodeUnknownResult(Id)

const malformedConsumerId = (header: string) =>
  invalidInput([
    issueAt({ "x-consumer-id": header }, "x-consumer-id", { kind: "validation", type: "uuid", expected: "a UUID" })
  ])

const outOfReach = () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))

/** What follows `Bearer ` in `Authorization`. */
export function bearerOf(request: Request): string | undefined {
  const header = request.headers["authorization"]
  return header !== undefined && /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : undefined
}

function isKey(bearer: string | undefined): bearer is string {
  return bearer !== undefined && bearer.charAt(2) === "_" && (bearer.startsWith("sk_") || bearer.startsWith("pk_"))
}
