/**
 * Admission grants as tokens (completions 3, "Shared"): a JWT that a shop can check offline against the published keys.
 * The journal is what says that a grant exists; its token can be made from the record at any time, always the same text,
 * because Ed25519 signatures are deterministic; after a rotation of the signing key it is signed anew the next time it is
 * shown, so that also a grant that never expires moves to the current key. Where the system picks the product, the token
 * names the one that is picked when it is signed.
 */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import * as Jose from "jose"
import type { MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { SegmentedCache } from "../sessions/SegmentedCache.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer, sign, verify } from "./Tokens.ts"

const audience = "usher:admission"

/** Grant tokens remembered at least, of those that were shown within the time. */
const rememberedTokens = 20_000
const rememberedMillis = 60_000

/** A grant as the journal has it. */
export interface Grant {
  readonly consumerId: string
  /** The sequence of the grant's event in its mechanism: with the mechanism's id, its name for ever. */
  readonly grantSequence: number
  readonly grantedAt: Millis
  /** Absent if it does not expire. */
  readonly expiresAt?: Millis
}

/** What a grant is for; without a product the system has picked none. */
export interface Granted extends MechanismIdentity {
  readonly productId?: string
}

/** What a grant token says. */
export interface GrantClaims {
  readonly jti: string
  readonly consumerId: string
  readonly organizationId: string
  readonly distributionId: string
}

/** Why a text is no grant. */
export type GrantProblem = "INVALID_TOKEN" | "GRANT_EXPIRED"

export class Grants extends Context.Service<
  Grants,
  {
    /** The grant's token; `granted` is only asked if the token is not remembered. */
    token<E, R>(mechanismId: string, grant: Grant, granted: Effect.Effect<Granted, E, R>): Effect.Effect<string, E, R>
    /** What the token says, if it is a grant of ours that has not expired. */
    verify(token: string): Effect.Effect<Result.Result<GrantClaims, GrantProblem>>
  }
>()("usher/auth/tokens/Grants") {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      let signedWith = keys.current.kid
      const clock = yield* Clock.Clock
      const lapse = { afterMillis: rememberedMillis, now: () => clock.currentTimeMillisUnsafe() }
      let remembered = new SegmentedCache<string>(rememberedTokens, lapse)

      /** The tokens that are signed with the current key. */
      const signed = () => {
        if (signedWith === keys.current.kid) return remembered
        signedWith = keys.current.kid
        return (remembered = new SegmentedCache(rememberedTokens, lapse))
      }

      const make = Effect.fnUntraced(function* (name: string, grant: Grant, granted: Granted) {
        const memory = signed()
        const token = yield* sign(keys, {
          type: "admission",
          iss: issuer,
          aud: audience,
          jti: name,
          consumerId: grant.consumerId,
          organizationId: granted.organizationId,
          mode: granted.mode,
          distributionId: granted.id,
          distributionType: granted.kind,
          experienceId: granted.experienceId,
          sequenceId: granted.sequenceId,
          ...(granted.productId !== undefined && { productId: granted.productId }),
          iat: Math.floor(grant.grantedAt / 1000),
          // Rounded up: offline, a grant is good for its last second as a whole; online, to the millisecond.
          ...(grant.expiresAt !== undefined && { exp: Math.ceil(grant.expiresAt / 1000) })
        })
        memory.set(name, token)
        return token
      })

      return {
        token: (mechanismId, grant, granted) =>
          Effect.suspend(() => {
            const name = grantName(mechanismId, grant.grantSequence)
            const known = signed().get(name)
            return known === undefined
              ? Effect.flatMap(granted, (found) => make(name, grant, found))
              : Effect.succeed(known)
          }),
        verify: (token) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => verify(keys, token, { audience, now })).pipe(
            Effect.mapError(problemOf),
            Effect.flatMap((claims) =>
              Effect.fromResult(Result.mapError(decodeClaims(claims), (): GrantProblem => "INVALID_TOKEN"))
            ),
            Effect.result
          )
      }
    })
  )
}

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

/** The name of a grant: `jti` of its token. */
export const grantName = (mechanismId: string, grantSequence: number): string => `${mechanismId}.${grantSequence}`
