/**
 * Stripe: `Stripe-Signature: t=…,v1=…`, HMAC-SHA256 of the time and the body. While Stripe rolls a secret, the header has
 * a `v1` for each.
 */
import { Result, Schema } from "effect"
import { smallestOf, toText } from "../values/Amount.ts"
import { hmacSha256Of, isSameBytes } from "../values/Signatures.ts"
import { text } from "../values/Text.ts"
import { type Adapter, EventId, EventType, isRecent, jsonOf, received, rejected, textOf } from "./Adapter.ts"
import { type Meaning, namedGrant, nothing } from "./Meaning.ts"

/** Parts of the header that are read. */
const partsMax = 20

/** Checks a request of Stripe. */
export const receive: Adapter = ({ headers, rawBody }, secret, now) => {
  const header = headers["stripe-signature"]
  if (header === undefined) return rejected("MISSING_SIGNATURE")
  const parts = header.split(",", partsMax).map((part) => part.trim())
  const time = parts.find((part) => part.startsWith("t="))?.slice(2)
  const signatures = parts.filter((part) => part.startsWith("v1=")).map((part) => part.slice(3))
  const expected = hmacSha256Of(secret, `${time}.`, rawBody)
  if (!signatures.some((signature) => isSameBytes(expected, signature, "hex"))) return rejected("WRONG_SIGNATURE")
  if (!isRecent(time, now)) return rejected("NOT_RECENT")
  const body = textOf(rawBody)
  const event = decodeEvent(jsonOf(body))
  if (body === undefined || Result.isFailure(event)) return rejected("MALFORMED")
  const { id, type, created } = event.success
  return received([{ id, type, at: created * 1_000, body }])
}

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99_999_999_999 }))

const decodeEvent = Schema.decodeUnknownResult(Schema.Struct({ id: EventId, type: EventType, created: seconds }))

/** The types that say that a checkout is paid. With the first one the payment may still be pending. */
const paidTypes = new Set(["checkout.session.completed", "checkout.session.async_payment_succeeded"])

/** Returns what an event means. */
export const meaningOf = (type: string, body: string): Meaning => {
  if (paidTypes.has(type)) return paidBy(jsonOf(body))
  return type === "charge.refunded" ? refundedBy(jsonOf(body)) : nothing
}

const PaymentIntent = Schema.optionalKey(Schema.NullOr(Schema.Union([EventId, Schema.Struct({ id: EventId })])))

const decodeCheckout = Schema.decodeUnknownResult(
  Schema.Struct({
    data: Schema.Struct({
      object: Schema.Struct({
        id: text({ minLength: 1, maxLength: 200 }),
        client_reference_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
        payment_status: Schema.String,
        payment_intent: PaymentIntent,
        amount_total: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999_999_999_999 })),
        currency: Schema.String.check(Schema.isPattern(/^[A-Za-z]{3}$/))
      })
    })
  })
)

const paidBy = (event: unknown): Meaning => {
  const decoded = decodeCheckout(event)
  if (Result.isFailure(decoded)) return nothing
  const { id, client_reference_id, payment_status, payment_intent, amount_total, currency } =
    decoded.success.data.object
  if (payment_status !== "paid") return nothing
  const currencyCode = currency.toUpperCase()
  const digits = digitsOf(currencyCode)
  return {
    _tag: "Paid",
    grant: namedGrant(client_reference_id ?? undefined),
    checkoutId: id,
    paymentId: idOf(payment_intent),
    amount: toText(BigInt(amount_total) * smallestOf(digits), digits),
    currencyCode
  }
}

const decodeCharge = Schema.decodeUnknownResult(
  Schema.Struct({
    data: Schema.Struct({ object: Schema.Struct({ payment_intent: PaymentIntent, refunded: Schema.Boolean }) })
  })
)

const refundedBy = (event: unknown): Meaning => {
  const decoded = decodeCharge(event)
  if (Result.isFailure(decoded)) return nothing
  const { payment_intent, refunded } = decoded.success.data.object
  return { _tag: "Refunded", paymentId: idOf(payment_intent), isWhole: refunded }
}

/** An id, or an expanded object that has it. */
const idOf = (named: typeof PaymentIntent.Type | undefined): string | undefined =>
  typeof named === "string" ? named : (named?.id ?? undefined)

/** Currencies whose amounts Stripe gives in whole units, or in thousandths. Others have hundredths there, also ISK and UGX. */
const wholeUnits = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "))
const thousandths = new Set("BHD JOD KWD OMR TND".split(" "))

const digitsOf = (currencyCode: string): number =>
  wholeUnits.has(currencyCode) ? 0 : thousandths.has(currencyCode) ? 3 : 2
