/**
 * Looks up the credentials of a request: keys, access tokens, and the consumer that a server names. A check returns the
 * caller. `Credentials.ts` declares which operations use which check.
 */
import { Effect, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { StreamCredentials } from "../../api/Credentials.ts"
import { ApiKeys, type KeyHolder } from "../../auth/keys/ApiKeys.ts"
import { GateKeys, isGateKey } from "../../auth/keys/GateKeys.ts"
import { isRehearsalKey, RehearsalKeys } from "../../auth/keys/RehearsalKeys.ts"
import { Consumers } from "../../auth/sessions/Consumers.ts"
import { Tokens } from "../../auth/tokens/Tokens.ts"
import { Id, sameTenant, type Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { NotFound, ServiceUnavailable, Unauthorized, type ValidationError } from "../../api/Errors.ts"
import { TestClocks } from "../../store/testClock/TestClocks.ts"
import { issueAt } from "../errors/Issues.ts"
import { type CountRequest, exhaustion, makeCounters } from "../limits/RateLimit.ts"
import { invalidInput } from "../errors/Validation.ts"
import { type ActingConsumer, actingConsumer } from "./ActingConsumer.ts"
import { restrictingOrigin } from "./AllowedOrigins.ts"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"

type Request = HttpServerRequest.HttpServerRequest
export type KeyRefusal = Unauthorized | ServiceUnavailable
export type ConsumerRefusal = KeyRefusal | NotFound | ValidationError
export type Check<A, E> = (request: Request) => Effect.Effect<A, E>

/** A key as records name it, for example in `createdBy` and `statusOverrideBy`. */
export const nameOf = ({ keyId, kind, author }: KeyHolder): string =>
  author ?? `${kind === "gate" ? "gate" : "api_key"}:${keyId}`

/** A session whose token came without a key, and the publishable key of its tenant. */
export interface ActingSession {
  readonly holder: KeyHolder
  readonly access: VerifiedAccess
}

const authenticationRequired = new Unauthorized({ error: "Authentication required" })
const secretKeyRequired = new Unauthorized({ error: "Secret key required" })

/** A stream was counted when it began. */
const uncounted: CountRequest = Object.assign(() => Effect.void, { charge: () => undefined })

/** The checks of all classes of operations, and how callers that pass are counted. */
export const makeChecks = Effect.gen(function* () {
  const keys = yield* makeKeyChecks
  const { consumer, ...tokens } = yield* makeTokenChecks(keys)
  const streams = yield* makeStreamCredentials(consumer(uncounted), keys)
  const { publishableKey, anyKey, secretKey } = keys
  const gateOrSecretKey = yield* makeGateOrSecretKey(keys)
  return {
    publishableKey,
    anyKey,
    secretKey,
    gateOrSecretKey,
    consumer,
    ...tokens,
    ...streams,
    counterOf: yield* makeCounters,
    clocks: yield* TestClocks
  }
})

type KeyChecks = Effect.Success<typeof makeKeyChecks>

const makeKeyChecks = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tokens = yield* Tokens
  const rehearsalKeys = yield* RehearsalKeys
  const isExhausted = yield* exhaustion

  /** The holder of the key. A caller with too many failed requests is only looked up in memory. */
  const lookup = (request: Request, key: string | undefined, find = keys.lookup) => {
    if (key === undefined) return Effect.undefined
    const known = isRehearsalKey(key) ? Effect.undefined : keys.lookupRemembered(key)
    const look = isRehearsalKey(key) ? rehearsalKeys.lookup : find
    const found = isExhausted(request) ? known : look(key)
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

  /** The holder of a secret key. Fails with `otherwise` for a key of another kind. */
  const secretHolder = (request: Request, key: string, otherwise: Unauthorized) =>
    Effect.flatMap(lookup(request, key), (holder) => {
      const isOpened = holder?.readsOnly !== true || request.method === "GET"
      if (holder === undefined || !isOpened) return Effect.fail(authenticationRequired)
      return holder.kind === "secret" ? Effect.succeed(holder) : Effect.fail(otherwise)
    })

  const anyKey: Check<KeyHolder, KeyRefusal> = (request) => {
    const bearer = bearerOf(request)
    return isKey(bearer) ? secretHolder(request, bearer, authenticationRequired) : publishableKey(request)
  }

  const secretKey: Check<KeyHolder, KeyRefusal> = (request) => {
    const bearer = bearerOf(request)
    if (isKey(bearer)) return secretHolder(request, bearer, secretKeyRequired)
    // A credential that other operations accept gets another error than one that none accepts.
    const other: Effect.Effect<unknown, ServiceUnavailable> =
      bearer === undefined ? lookup(request, request.headers["x-publishable-key"]) : verifyAccess(bearer)
    return Effect.flatMap(other, (known) =>
      Effect.fail(known === undefined ? authenticationRequired : secretKeyRequired)
    )
  }

  /** The checks of a status read. They work without the database while it is unreachable. */
  const forStatus = {
    publishableKey: publishableBy(keys.lookupForStatus),
    verifyAccess: (token: string) => verifyAccess(token, tokens.verifyForStatus)
  }

  return { verifyAccess, publishableKey, secretHolder, anyKey, secretKey, isExhausted, forStatus }
})

/** Makes the check of a gate, or of a server in its stead. */
const makeGateOrSecretKey = Effect.fnUntraced(function* ({ secretHolder, isExhausted }: KeyChecks) {
  const gateKeys = yield* GateKeys
  const check: Check<KeyHolder, KeyRefusal> = (request) => {
    const bearer = bearerOf(request)
    if (isKey(bearer)) return secretHolder(request, bearer, authenticationRequired)
    if (bearer === undefined || !isGateKey(bearer)) return Effect.fail(authenticationRequired)
    const found = isExhausted(request) ? gateKeys.lookupRemembered(bearer) : gateKeys.lookup(bearer)
    return Effect.flatMap(Effect.catchTag(found, "Unavailable", outOfReach), (holder) =>
      holder === undefined ? Effect.fail(authenticationRequired) : Effect.succeed(holder)
    )
  }
  return check
})

/** Makes the check of a server that acts for the consumer it names. */
const makeConsumerByServer = Effect.fnUntraced(function* ({ secretHolder }: KeyChecks) {
  const consumers = yield* Consumers
  return Effect.fnUntraced(function* (request: Request, key: string, count: CountRequest) {
    const holder = yield* secretHolder(request, key, authenticationRequired)
    const header = request.headers["x-consumer-id"]
    if (header === undefined) return yield* authenticationRequired
    yield* count(request, holder)
    const id = decodeId(header)
    if (Result.isFailure(id)) return yield* malformedConsumerId(header)
    const { tenant } = holder
    const consumerId = id.success
    const found = yield* Effect.catchTag(consumers.find(tenant, consumerId), "Unavailable", outOfReach)
    if (found === undefined) return yield* NotFound.of("Consumer")
    return { holder, consumer: { tenant, consumerId, isGuest: found.isGuest, by: nameOf(holder) } }
  })
})

const makeTokenChecks = Effect.fnUntraced(function* (checks: KeyChecks) {
  const { verifyAccess, publishableKey } = checks
  const keys = yield* ApiKeys
  const consumerByServer = yield* makeConsumerByServer(checks)

  const consumerByToken = (
    request: Request,
    token: string,
    count: CountRequest,
    by: Pick<KeyChecks, "publishableKey" | "verifyAccess">
  ): Effect.Effect<ActingConsumer, ConsumerRefusal> =>
    Effect.flatMap(by.publishableKey(request), (holder) =>
      Effect.flatMap(by.verifyAccess(token), (access): Effect.Effect<ActingConsumer, ConsumerRefusal> => {
        if (access === undefined || !sameTenant(access.tenant, holder.tenant))
          return Effect.fail(authenticationRequired)
        return Effect.as(count(request, holder, access.consumerId), actingConsumer(holder, access))
      })
    )

  /** The claims of the request's access token. Fails if there is none, or if it is another tenant's. */
  const accessOf = (request: Request, tenant?: Tenant): Effect.Effect<VerifiedAccess, KeyRefusal> => {
    const bearer = bearerOf(request)
    if (bearer === undefined || isKey(bearer)) return Effect.fail(authenticationRequired)
    return Effect.flatMap(verifyAccess(bearer), (access) =>
      access === undefined || (tenant !== undefined && !sameTenant(access.tenant, tenant))
        ? Effect.fail(authenticationRequired)
        : Effect.succeed(access)
    )
  }

  /** A caller without a key is counted under its tenant's publishable key and is limited to the same origins. */
  const tokenAlone: Check<ActingSession, KeyRefusal> = (request) =>
    Effect.flatMap(accessOf(request), (access) =>
      Effect.flatMap(
        restrictingOrigin(request, Effect.catchTag(keys.publishableOf(access.tenant), "Unavailable", outOfReach)),
        (holder): Effect.Effect<ActingSession, KeyRefusal> =>
          holder === undefined ? Effect.fail(authenticationRequired) : Effect.succeed({ holder, access })
      )
    )

  /**
   * The check of a consumer that acts. For a status read, a consumer that was verified before the outage is accepted.
   */
  const consumer =
    (count: CountRequest, isForStatus = false): Check<ActingConsumer, ConsumerRefusal> =>
    (request) => {
      const bearer = bearerOf(request)
      // The request is refused in any case. The key decides which origins may read the refusal.
      if (bearer === undefined) return Effect.andThen(publishableKey(request), Effect.fail(authenticationRequired))
      return isKey(bearer)
        ? consumerByServer(request, bearer, count)
        : consumerByToken(request, bearer, count, isForStatus ? checks.forStatus : checks)
    }

  return { consumer, accessOf, tokenAlone }
})

const makeStreamCredentials = Effect.fnUntraced(function* (
  checkAgain: Check<ActingConsumer, ConsumerRefusal>,
  { verifyAccess, secretKey }: KeyChecks
) {
  const tokens = yield* Tokens

  /** A class, because a process holds very many of them. */
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

  /** The stream credentials of a consumer's request. */
  const lasting: Check<StreamCredentials, ServiceUnavailable> = (request) => {
    const bearer = bearerOf(request)
    const shown = bearer === undefined || isKey(bearer) ? Effect.undefined : verifyAccess(bearer)
    return Effect.map(shown, (access) => new ShownCredentials(request, access, checkAgain))
  }

  const lastingKey = (request: Request): StreamCredentials => new ShownCredentials(request, undefined, secretKey)

  return { lasting, lastingKey }
})

const decodeId = Schema.decodeUnknownResult(Id)

const malformedConsumerId = (header: string) =>
  invalidInput([
    issueAt({ "x-consumer-id": header }, "x-consumer-id", { kind: "validation", type: "uuid", expected: "a UUID" })
  ])

const outOfReach = () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 }))

/** The text after `Bearer ` in `Authorization`. */
export function bearerOf(request: Request): string | undefined {
  const header = request.headers["authorization"]
  return header !== undefined && /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : undefined
}

const keyPrefixes: ReadonlySet<string> = new Set(["sk_", "pk_", "rk_"])

function isKey(bearer: string | undefined): bearer is string {
  return bearer !== undefined && bearer.charAt(2) === "_" && keyPrefixes.has(bearer.slice(0, 3))
}
