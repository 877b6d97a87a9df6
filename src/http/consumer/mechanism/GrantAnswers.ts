/**
 * Grants on the Consumer API, for every kind of mechanism that grants: the token for the consumer that holds one, and
 * the check of a token that a shop was shown.
 */
import { Effect, Result } from "effect"
import type { Validity } from "../../../api/consumer/Grants.ts"
import { type Grant, type GrantClaims, type GrantProblem, Grants } from "../../../auth/tokens/Grants.ts"
import { namedGrant } from "../../../domain/mechanism/GrantName.ts"
import type { MechanismRef, Kind } from "../../../domain/mechanism/Mechanism.ts"
import { InvalidGrant } from "../../../domain/mechanism/Refusals.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { AssignedProducts } from "../../../store/experience/AssignedProducts.ts"

/** A grant in its consumer's view. */
export type HeldGrant = Omit<Grant, "consumerId">

/** A consumer's grant, or the reason why the consumer holds none. */
export type GrantStatus = HeldGrant | "completed" | "expired" | "denied" | "none"

/** A token that a shop was shown. */
export interface Shown {
  readonly consumerId: string
  readonly token: string
}

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const grants = yield* Grants
  const assigned = yield* AssignedProducts

  /** Returns the token of the grant. */
  const token = (
    mechanism: MechanismRef<Kind>,
    consumerId: string,
    grant: HeldGrant
  ): Effect.Effect<string, EngineError> =>
    grants.token(
      mechanism.id,
      { consumerId, ...grant },
      Effect.flatMap(engine.identity(mechanism), (identity) =>
        Effect.map(assigned.of(identity, consumerId), (product) => ({
          ...identity,
          ...(product !== undefined && { productId: product.productId })
        }))
      )
    )

  /** Checks whether the token is the grant that this consumer holds in this mechanism now. */
  const validate = (mechanism: MechanismRef<Kind>, shown: Shown, standing: GrantStatus): Effect.Effect<Validity> =>
    Effect.map(grants.verify(shown.token), (grant) => validity(grant, mechanism, shown.consumerId, standing))

  /**
   * Returns the sequence of the grant that the token shows, if it is a grant of this consumer in this mechanism. Its time
   * may be over, because a redemption can be repeated later.
   */
  const shownGrant = (mechanism: MechanismRef<Kind>, shown: Shown): Effect.Effect<number, InvalidGrant> =>
    Effect.flatMap(grants.verifyAnyTime(shown.token), (grant) => {
      const claims = Result.isSuccess(grant) ? grant.success : undefined
      const isRight =
        claims?.organizationId === mechanism.tenant.organizationId &&
        claims.distributionId === mechanism.id &&
        claims.consumerId === shown.consumerId
      const sequence = isRight ? sequenceOf(claims, mechanism) : undefined
      return sequence === undefined ? Effect.fail(new InvalidGrant()) : Effect.succeed(sequence)
    })

  return { token, validate, shownGrant }
})

function validity(
  grant: Result.Result<GrantClaims, GrantProblem>,
  mechanism: MechanismRef<Kind>,
  consumerId: string,
  standing: GrantStatus
): Validity {
  if (Result.isFailure(grant)) return grant.failure === "GRANT_EXPIRED" ? expired : invalid
  const claims = grant.success
  if (claims.organizationId !== mechanism.tenant.organizationId) return invalid
  if (claims.distributionId !== mechanism.id) return no("WRONG_DISTRIBUTION", "The grant is for another distribution")
  if (claims.consumerId !== consumerId) return no("WRONG_CONSUMER", "The grant is another consumer's")
  switch (standing) {
    case "completed":
      return no("GRANT_COMPLETED", "The grant has been used")
    case "expired":
      return expired
    case "denied":
      return no("GRANT_DENIED", "The grant has been denied")
    case "none":
      return no("NOT_GRANTED", "The consumer holds no grant")
    default:
      return (
        sequenceOf(claims, mechanism) === standing.grantSequence || no("GRANT_REPLACED", "The grant has been replaced")
      )
  }
}

/** The sequence of the grant that a token names. The signature proves it, so its name needs no check. */
const sequenceOf = ({ jti }: GrantClaims, { id }: MechanismRef<Kind>): number | undefined => {
  const named = namedGrant(jti)
  return named?.mechanismId === id ? named.sequence : undefined
}

/**
 * The outcome of the last grant, for a consumer that holds none. It is `none` for denials with one of the
 * `reasonsWithoutGrant`.
 */
export const endedStatus = (
  { status, reason }: { readonly status: string; readonly reason?: string },
  reasonsWithoutGrant: ReadonlyArray<string> = []
): Exclude<GrantStatus, HeldGrant> => {
  switch (status) {
    case "COMPLETED":
      return "completed"
    case "EXPIRED":
      return "expired"
    case "DENIED":
      if (reason === "ADMISSION_EXPIRED") return "expired"
      return reason !== undefined && reasonsWithoutGrant.includes(reason) ? "none" : "denied"
    default:
      return "none"
  }
}

const no = (code: string, error: string) => ({ valid: false, error, code }) as const
const invalid = no("INVALID_TOKEN", "The token is not a grant")
const expired = no("GRANT_EXPIRED", "The grant has expired")
