/**
 * Stripe: `Stripe-Signature: t=…,v1=…`, HMAC-SHA256 of the time and the body. While Stripe rolls a secret, the header has
 * a `v1` for each.
 */
import { Result, Schema } from "effect"
import { smallestOf, toText } from "../values/Amount.ts"
import { hmacSha256Of, isSameBytes } from "../values/Signatures.ts"
import type { Mode } from "../values/Ids.ts"
import { text } from "../values/Text.ts"
import { type Adapter, EventId, EventType, isRecent, jsonOf, received, rejected, textOf } from "./Adapter.ts"
import { namedGrant } from "../mechanism/GrantName.ts"
import { type Meaning, nothing, type Paid } from "./Meaning.ts"

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
  const { id, type, created, livemode } = event.success
  return received([{ id, type, at: created * 1_000, body, ...(livemode !== undefined && { mode: modeOf(livemode) }) }])
}

const modeOf = (isLive: boolean): Mode => (isLive ? "live" : "test")

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99_999_999_999 }))

const decodeEvent = Schema.decodeUnknownResult(
  Schema.Struct({ id: EventId, type: EventType, created: seconds, livemode: Schema.optionalKey(Schema.Boolean) })
)

/** The types that say that a checkout is paid. With the first one the payment may still be pending. */
const paidTypes = new Set(["checkout.session.completed", "checkout.session.async_payment_succeeded"])

/** Returns what an event means. */
export const meaningOf = (type: string, body: string): Meaning => {
  if (paidTypes.has(type)) return paidBy(jsonOf(body))
  return type === "charge.refunded" ? refundedBy(jsonOf(body)) : nothing
}

const PaymentIntent = Schema.optionalKey(Schema.NullOr(Schema.Union([EventId, Schema.Struct({ id: EventId })])))

const minorUnits = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999_999_999_999 }))
const part = Schema.optionalKey(Schema.NullOr(minorUnits))

const decodeCheckout = Schema.decodeUnknownResult(
  Schema.Struct({
    data: Schema.Struct({
      object: Schema.Struct({
        id: text({ minLength: 1, maxLength: 200 }),
        client_reference_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
        payment_status: Schema.String,
        payment_intent: PaymentIntent,
        amount_total: minorUnits,
        amount_subtotal: part,
        total_details: Schema.optionalKey(
          Schema.NullOr(Schema.Struct({ amount_shipping: part, amount_tax: part, amount_discount: part }))
        ),
        currency: Schema.String.check(Schema.isPattern(/^[A-Za-z]{3}$/))
      })
    })
  })
)

const paidBy = (event: unknown): Meaning => {
  const decoded = decodeCheckout(event)
  if (Result.isFailure(decoded)) return nothing
  const checkout = decoded.success.data.object
  // Without a payment, nothing was paid: the price is 0, or it is due later.
  const total = paidTotals[checkout.payment_status]?.(checkout)
  if (total === undefined) return nothing
  const currencyCode = checkout.currency.toUpperCase()
  const digits = digitsOf(currencyCode)
  const smallest = smallestOf(digits)
  const { SHIPPING, TAX, DISCOUNT } = adjustmentsOf(checkout)
  return {
    _tag: "Paid",
    grant: namedGrant(checkout.client_reference_id ?? undefined),
    checkoutId: checkout.id,
    paymentId: idOf(checkout.payment_intent),
    amount: toText(BigInt(total) * smallest, digits),
    currencyCode,
    adjustments: {
      SHIPPING: BigInt(SHIPPING) * smallest,
      TAX: BigInt(TAX) * smallest,
      DISCOUNT: BigInt(DISCOUNT) * smallest
    }
  }
}

type Checkout = Result.Result.Success<ReturnType<typeof decodeCheckout>>["data"]["object"]

/** What a checkout with this status has paid, in Stripe's units. One with another status has not been paid. */
const paidTotals: { readonly [status: string]: ((checkout: Checkout) => number) | undefined } = {
  paid: ({ amount_total }) => amount_total,
  no_payment_required: () => 0
}

/** The parts of the total besides the goods, in Stripe's units. A tax that is part of the prices is not one of them. */
const adjustmentsOf = ({
  amount_total,
  amount_subtotal,
  total_details
}: Checkout): { readonly [A in keyof Paid["adjustments"]]: number } => {
  const SHIPPING = total_details?.amount_shipping ?? 0
  const DISCOUNT = total_details?.amount_discount ?? 0
  const added = amount_total - (amount_subtotal ?? amount_total) - SHIPPING + DISCOUNT
  const TAX = Math.min(Math.max(0, added), total_details?.amount_tax ?? 0)
  return { SHIPPING, TAX, DISCOUNT }
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
