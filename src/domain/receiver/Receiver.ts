/** The receiver: an address at which Usher takes the events of a provider. */
import { Schema } from "effect"
import { recordSchema } from "../values/Record.ts"
import { isP256Key } from "../values/Signatures.ts"
import { expectedKey, isKey } from "../values/SigningSecret.ts"
import { HttpsUrl, text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"
import { AdapterName } from "./Adapter.ts"
import { Adjustment } from "./Meaning.ts"

/** The fields an admin sets, apart from the secret. */
export const Settings = Schema.Struct({
  adapter: AdapterName.annotate({
    description: "`standard` is any sender that follows Standard Webhooks and reports about email."
  }),
  description: Schema.optionalKey(text({ maxLength: 500 })),
  url: Schema.optionalKey(
    HttpsUrl.annotate({
      description:
        "The URL that the provider calls, if a proxy changes it. Twilio signs it. Default: the host of the request."
    })
  ),
  allowedAdjustments: Schema.optionalKey(
    Schema.Array(Adjustment)
      .check(Schema.isMaxLength(Adjustment.literals.length))
      .annotate({
        description:
          "Parts of a checkout's total by which a payment may differ from the price. Without `SHIPPING` and `TAX`, a " +
          "payment of the price and shipping needs attention; `DISCOUNT` lets coupons lower what is paid. They are " +
          "known of `stripe` alone. Default: none."
      })
  )
})
export type Settings = typeof Settings.Type

/** The receiver in responses. Its secret is never shown. */
export const Receiver = recordSchema("Receiver", {
  adapter: AdapterName,
  description: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  allowedAdjustments: Schema.NullOr(Schema.Array(Adjustment)),
  path: Schema.String.annotate({ description: "The path on the Consumer API's listener that the provider calls." }),
  formerSecretUntil: Schema.NullOr(Timestamp).annotate({
    description: "The former secret is accepted until this time."
  })
})
export type Receiver = typeof Receiver.Type

/** The path that a provider calls. */
export const pathOf = (id: string): string => `/hooks/${id}`

/** Returns what a secret of the adapter is; undefined if this one can be. */
export const secretProblemOf = (adapter: AdapterName, secret: string): string | undefined => {
  switch (adapter) {
    case "sendgrid":
      return isP256Key(secret) ? undefined : "the public key that SendGrid shows, on the curve P-256, in Base64"
    case "standard":
      return isKey(secret) ? undefined : expectedKey
    // The bytes of the text are the key, also of Stripe's `whsec_…`.
    case "stripe":
    case "twilio":
      return undefined
  }
}

/** The outcomes of a received event. */
export const ReceivedStatus = Schema.Literals(["WAITING", "DONE", "IGNORED", "NEEDS_ATTENTION", "FAILED"]).annotate({
  description:
    "`WAITING` for its first or next attempt. `IGNORED`: Usher ignores events of this type. `NEEDS_ATTENTION`: a " +
    "person has to look at the `outcome`. `FAILED`: every attempt failed."
})
export type ReceivedStatus = typeof ReceivedStatus.Type

/** The outcome of handling an event. */
export const Outcome = Schema.Literals([
  "ORDER_PAID",
  "ORDER_CANCELLED",
  "PAID_AFTER_CANCELLATION",
  "ALREADY_DONE",
  "GRANT_LAPSED",
  "GRANT_UNKNOWN",
  "GRANT_HAS_ANOTHER_ORDER",
  "AMOUNT_DIFFERS",
  "ORDER_UNKNOWN",
  "ORDER_FULFILLED",
  "PARTLY_REFUNDED",
  "MESSAGE_REPORTED",
  "MESSAGE_UNKNOWN",
  "ADDRESS_STOPPED",
  "ADDRESS_ALLOWED",
  "IGNORED",
  "UNAVAILABLE"
])
export type Outcome = typeof Outcome.Type

/** How the list of events of a receiver can be sorted. The first is the default. */
export const receivedEventSorts = ["receivedAt"] as const

/** How the list of receivers can be sorted. The first is the default. */
export const receiverSorts = ["createdAt"] as const

/** Hours for which a secret that was replaced is accepted too. */
export const secretOverlapHours = 24
