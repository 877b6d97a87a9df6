/**
 * Grants as the Consumer API answers and checks them, the same for every kind of mechanism that grants (completions 3,
 * "Shared"): a consumer that holds one gets its token; a shop that was shown one learns whether it admits.
 */
import { Effect, Result, Schema } from "effect"
import { type Grant, type GrantClaims, grantName, type GrantProblem, Grants } from "../../../auth/tokens/Grants.ts"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { AssignedProducts } from "../../../store/experience/AssignedProducts.ts"

/** The answer to a grant that was shown: `true`, or why it admits nobody. */
export const Validity = Schema.Union([
  Schema.Literal(true),
  Schema.Struct({ valid: Schema.Literal(false), error: Schema.String, code: Schema.String })
]).annotate({ identifier: "Validity" })
export type Validity = typeof Validity.Type

/** A grant as its consumer's view has it. */
export type HeldGrant = Omit<Grant, "consumerId">

/** How a consumer stands to the grant it may have had: it holds one, or what became of it. */
export type GrantStatus = HeldGrant | "completed" | "expired" | "denied" | "none"

/** A grant shown by a shop. */
export interface Shown {
  readonly consumerId: string
  readonly token: string
}

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const grants = yield* Grants
  const assigned = yield* AssignedProducts

  /** The grant's token. */
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

  /** Whether the token is the grant that this consumer holds in this mechanism at this moment. */
  const validate = (mechanism: MechanismRef<Kind>, shown: Shown, standing: GrantStatus): Effect.Effect<Validity> =>
    Effect.map(grants.verify(shown.token), (grant) => validity(grant, mechanism, shown.consumerId, standing))

  return { token, validate }
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
        claims.jti === grantName(mechanism.id, standing.grantSequence) ||
        no("GRANT_REPLACED", "The grant has been replaced")
      )
  }
}

/** What became of the grant of a consumer that holds none; `none` for denials of the `reasonsWithoutGrant`. */
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
