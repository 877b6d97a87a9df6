/** Denying many places of a mechanism: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { AdminReason } from "../../domain/mechanism/Denial.ts"
import { Id } from "../../domain/values/Ids.ts"
import { NotFound } from "../Errors.ts"
import { noteField } from "./WhyFields.ts"

/** Places that one request denies. */
export const denialsMax = 500

/** A score of a risk, as a filter. */
export const RiskScore = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

/** The consumers by name, or by the risk of their entries. */
const bodies = [
  Schema.Struct({
    consumerIds: Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(denialsMax)),
    minRiskScore: unnamed,
    reason: AdminReason,
    ...noteField
  }),
  // Every place has a score of 0 or more, and one number must not deny all of them.
  Schema.Struct({
    minRiskScore: RiskScore.check(Schema.isGreaterThan(0)),
    consumerIds: unnamed,
    reason: AdminReason,
    ...noteField
  })
] as const

/** The body. */
export interface BulkDenial {
  readonly consumerIds?: ReadonlyArray<string> | null
  readonly minRiskScore?: number | null
  readonly reason: AdminReason
  readonly note?: string | null
}

const Denials = Schema.Struct({
  denied: Schema.Int.annotate({ description: "Places that this request denied." }),
  unchanged: Schema.Int.annotate({ description: "Places that were denied before." }),
  refused: Schema.Int.annotate({ description: "Consumers without a place, or whose place has ended." }),
  more: Schema.Boolean.annotate({ description: "True if more places have this risk: repeat the request." })
}).annotate({ identifier: "Denials" })

export const denyEndpoint = HttpApiEndpoint.post("denyDistributionConsumers", "/distributions/:id/deny", {
  params: { id: Id },
  payload: Schema.Union(bodies),
  success: Denials,
  error: NotFound
}).annotateMerge(
  OpenApi.annotations({
    summary: "Deny many places",
    description:
      "Denies the places of `consumerIds` (1 to 500), or the places that have not ended and whose risk is at least " +
      "`minRiskScore` (more than 0). It denies 500 at a time in the order of entry, each as `…/deny` of the Consumer " +
      "API does. The request can be repeated safely: denied places stay as they are. `note` is kept in the audit log. " +
      "Appointments and waitlists have no denial (404)."
  })
)
