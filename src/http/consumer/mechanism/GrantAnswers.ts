/**
 * Grants on the Consumer API, for every kind of mechanism that grants: the token for the consumer that holds one, and
 * the check of a token that a shop was shown.
 */
import { Effect, Result, Schema } from "effect"
import { type Grant, type GrantClaims, type GrantProblem, Grants } from "../../../auth/tokens/Grants.ts"
import { namedGrant } from "../../../domain/mechanism/GrantName.ts"
import type { Kind, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { redemptionIdLengthMax } from "../../../domain/mechanism/GrantRecord.ts"
import { InvalidGrant } from "../../../domain/mechanism/Refusals.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { key } from "../../../domain/values/Text.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { AssignedProducts } from "../../../store/experience/AssignedProducts.ts"

/** The answer to a token that is checked: `true`, or the reason why it is not valid. */
export const Validity = Schema.Union([
  Schema.Literal(true),
  Schema.Struct({ valid: Schema.Literal(false), error: Schema.String, code: Schema.String })
]).annotate({ identifier: "Validity" })
export type Validity = typeof Validity.Type

/** The body of `POST …/complete`. */
export const Redemption = Schema.Struct({
  consumerId: Id,
  token: Schema.optionalKey(
    Schema.NullOr(
      Schema.String.annotate({ description: "The grant that the consumer presented. Another grant is refused." })
    )
  ),
  redemptionId: Schema.optionalKey(
    Schema.NullOr(
      key({ minLength: 1, maxLength: redemptionIdLengthMax }).pipe(
        Schema.annotateEncoded({ description: "The shop's own name for this checkout." })
      )
    )
  )
}).annotate({ identifier: "Redemption" })
export type Redemption = typeof Redemption.Type

/** The text about completing, for the descriptions of kinds that grant. */
export const completing =
  "The shop has sold the goods that the grant admits to. A `token` that is present must be this consumer's present " +
  "grant here (409 `INVALID_GRANT`).\n\nThe first `redemptionId` wins. The same one again gets the same response " +
  "with `alreadyCompleted`; another one is a 409 `ALREADY_REDEEMED`. So of two simultaneous checkouts one ships, " +
  "on whichever nodes they arrive. A grant that was completed without a `redemptionId` counts as redeemed. An " +
  "order redeems with its `externalId`. Without a `redemptionId`, completing again changes nothing and returns " +
  "`alreadyCompleted`."

/** The field of the answer to completing a grant that was completed before. */
export const alreadyCompleted = Schema.optionalKey(
  Schema.Literal(true).annotate({
    description: "Present only in responses to completing: this redemption completed a grant before."
  })
)

/** The field of a consumer's standing that says that it cannot enter again. */
export const grantLimitReached = Schema.optionalKey(
  Schema.Literal(true).annotate({
    description:
      "Present if the consumer has had as many grants as `grantsPerConsumer` allows: it cannot enter again " +
      "(409 `GRANT_LIMIT_REACHED`)."
  })
)

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
