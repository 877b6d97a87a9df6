/** Grants on the Consumer API, for every kind of mechanism that grants. */
import { Schema } from "effect"
import { redemptionIdLengthMax } from "../../domain/mechanism/GrantRecord.ts"
import { Id } from "../../domain/values/Ids.ts"
import { key } from "../../domain/values/Text.ts"

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

/** The text about server actions in the descriptions of kinds that grant. */
export const serverActions =
  "A server that acts on a place names the consumer; an unknown or archived one is a 404 `Consumer not found`. " +
  "Grants of a deleted mechanism can be validated, completed and denied until the last of them has ended."
