/**
 * Admission grants as tokens: a JWT that a shop can check offline with the published keys. The journal is the record of
 * a grant. The token is derived from that record at any time, always with the same text, because Ed25519 signatures are
 * deterministic. After a rotation of the signing key, a grant is signed with the new key when it is next shown. So a
 * grant that never expires also moves to the current key. If the system assigns the product, the token contains the
 * product assigned when it is signed.
 */
import { Context, Effect, Layer, Result, Schema } from "effect"
import * as Jose from "jose"
import type { MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import { plainName } from "../../domain/mechanism/GrantName.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { GrantNames } from "./GrantNames.ts"
import { issuer, verify } from "./Jwt.ts"
import { sign } from "./Signing.ts"
import * as Time from "../../store/coordination/Time.ts"

const audience = "usher:admission"

/** Least number of cached tokens, of those shown within the time. */
const rememberedTokens = 20_000
const rememberedMillis = 60_000

/** A grant as the journal records it. */
export interface Grant {
  readonly consumerId: string
  /** The number of the grant's event in its mechanism. With the mechanism's id it identifies the grant permanently. */
  readonly grantSequence: number
  readonly grantedAt: Millis
  /** Absent if the grant does not expire. */
  readonly expiresAt?: Millis
}

/** The claims of a grant. Without a product, the system has assigned none. */
export interface Granted extends MechanismIdentity {
  readonly productId?: string
}

/** The claims of a grant token. */
export interface GrantClaims {
  readonly jti: string
  readonly consumerId: string
  readonly organizationId: string
  readonly distributionId: string
}

/** Why a text is not a valid grant. */
export type GrantProblem = "INVALID_TOKEN" | "GRANT_EXPIRED"

export class Grants extends Context.Service<
  Grants,
  {
    /** Returns the grant's token. Runs `granted` only if the token is not cached. */
    token<E, R>(mechanismId: string, grant: Grant, granted: Effect.Effect<Granted, E, R>): Effect.Effect<string, E, R>
    /** Returns the claims of a valid grant token that has not expired. */
    verify(token: string): Effect.Effect<Result.Result<GrantClaims, GrantProblem>>
    /** Returns the claims of an authentic grant token, also after it has expired. */
    verifyAnyTime(token: string): Effect.Effect<Result.Result<GrantClaims, GrantProblem>>
  }
>()("usher/auth/tokens/Grants") {
  static readonly layer = Layer.effect(Grants)(
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const names = yield* GrantNames
      let signedWith = keys.current.kid
      const clock = yield* Time.serverClock
      const ttl = { afterMillis: rememberedMillis, now: () => clock.currentTimeMillisUnsafe() }
      let cached = new SegmentedCache<string>(rememberedTokens, ttl)

      /** The cache of tokens signed with the current key. */
      const signed = () => {
        if (signedWith === keys.current.kid) return cached
        signedWith = keys.current.kid
        return (cached = new SegmentedCache(rememberedTokens, ttl))
      }

      const make = (plain: string, grant: Grant, granted: Granted): string => {
        const cache = signed()
        const token = sign(keys, {
          type: "admission",
          iss: issuer,
          aud: audience,
          jti: names.of(granted.id, grant.grantSequence),
          consumerId: grant.consumerId,
          organizationId: granted.organizationId,
          mode: granted.mode,
          distributionId: granted.id,
          distributionType: granted.kind,
          experienceId: granted.experienceId,
          sequenceId: granted.sequenceId,
          ...(granted.productId !== undefined && { productId: granted.productId }),
          iat: Math.floor(grant.grantedAt / 1000),
          // Rounded up: offline, a grant is valid through its last second; online, it expires to the millisecond.
          ...(grant.expiresAt !== undefined && { exp: Math.ceil(grant.expiresAt / 1000) })
        })
        cache.set(plain, token)
        return token
      }

      return {
        token: (mechanismId, grant, granted) =>
          Effect.suspend(() => {
            const plain = plainName(mechanismId, grant.grantSequence)
            const known = signed().get(plain)
            return known === undefined
              ? Effect.map(granted, (found) => make(plain, grant, found))
              : Effect.succeed(known)
          }),
        verify: (token) => Effect.flatMap(Time.now, (now) => verifiedAt(keys, token, now)),
        verifyAnyTime: (token) => verifiedAt(keys, token, 0)
      }
    })
  )
}

/** Returns the claims of a grant token as of an instant. */
const verifiedAt = (keys: SigningKeys["Service"], token: string, now: Millis) =>
  verify(keys, token, { audience, now }).pipe(
    Effect.mapError(problemOf),
    Effect.flatMap((claims) =>
      Effect.fromResult(Result.mapError(decodeClaims(claims), (): GrantProblem => "INVALID_TOKEN"))
    ),
    Effect.result
  )

const decodeClaims = Schema.decodeUnknownResult(
  Schema.Struct({
    type: Schema.Literal("admission"),
    jti: Schema.String,
    consumerId: Schema.String,
    organizationId: Schema.String,
    distributionId: Schema.String
  })
)

const problemOf = (error: Jose.errors.JOSEError): GrantProblem =>
  error instanceof Jose.errors.JWTExpired ? "GRANT_EXPIRED" : "INVALID_TOKEN"

/** Returns the `jti` of a grant's token that this server has made. A token changes with the grant's expiry; this does not. */
export const grantNameIn = (token: string): string => Jose.decodeJwt(token).jti ?? ""
