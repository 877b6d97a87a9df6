/**
 * Admission grants as tokens (completions 3, "Shared"): a JWT that a shop can check offline against the published keys.
 * The journal is what says that a grant exists; its token can be made from the record at any time, always the same text,
 * because Ed25519 signatures are deterministic; after a rotation of the signing key it is signed anew the next time it is
 * shown, so that also a grant that never expires moves to the current key.
 */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import * as Jose from "jose"
import type { MechanismIdentity } from "../domain/Decider.ts"
import type { Millis } from "../domain/Time.ts"
import { Recent } from "./Recent.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { issuer, sign, verify } from "./Tokens.ts"

const audience = "usher:admission"

/** Grant tokens remembered at least. */
const rememberedTokens = 20_000

/** A grant as the journal has it. */
export interface Grant {
  readonly consumerId: string
  /** The sequence of the grant's event in its mechanism: with the mechanism's id, its name for ever. */
  readonly grantSequence: number
  readonly grantedAt: Millis
  /** Absent if it does not expire. */
  readonly expiresAt?: Millis
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
    /** The grant's token; `mechanism` is only asked if the token is not remembered. */
    token<E, R>(
      mechanismId: string,
      grant: Grant,
      mechanism: Effect.Effect<MechanismIdentity, E, R>
    ): Effect.Effect<string, E, R>
    /** What the token says, if it is a grant of ours that has not expired. */
    verify(token: string): Effect.Effect<Result.Result<GrantClaims, GrantProblem>>
  }
>()("usher/auth/Grants") {
  static readonly layer = Layer.effect(
    Grants,
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      let signedWith = keys.current.kid
      let remembered = new Recent<string>(rememberedTokens)

      /** The tokens that are signed with the current key. */
      const signed = () => {
        if (signedWith === keys.current.kid) return remembered
        signedWith = keys.current.kid
        return (remembered = new Recent(rememberedTokens))
      }

      const make = Effect.fnUntraced(function* (name: string, grant: Grant, mechanism: MechanismIdentity) {
        const memory = signed()
        const token = yield* sign(keys, {
          type: "admission",
          iss: issuer,
          aud: audience,
          jti: name,
          consumerId: grant.consumerId,
          organizationId: mechanism.organizationId,
          mode: mechanism.mode,
          distributionId: mechanism.id,
          distributionType: mechanism.kind,
          experienceId: mechanism.experienceId,
          sequenceId: mechanism.sequenceId,
          iat: Math.floor(grant.grantedAt / 1000),
          // Rounded up: offline, a grant is good for its last second as a whole; online, to the millisecond.
          ...(grant.expiresAt !== undefined && { exp: Math.ceil(grant.expiresAt / 1000) })
        })
        memory.set(name, token)
        return token
      })

      return {
        token: (mechanismId, grant, mechanism) =>
          Effect.suspend(() => {
            const name = grantName(mechanismId, grant.grantSequence)
            const known = signed().get(name)
            return known === undefined
              ? Effect.flatMap(mechanism, (identity) => make(name, grant, identity))
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
