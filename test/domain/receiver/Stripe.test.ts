import { assert, describe, it } from "@effect/vitest"
import { Stripe } from "stripe"
import { rejected } from "../../../src/domain/receiver/Adapter.ts"
import { meaningOf, receive } from "../../../src/domain/receiver/Stripe.ts"
import { toText } from "../../../src/domain/values/Amount.ts"
import { now, requestOf, seconds, stripeEvent, stripeRequest, stripeSecret as secret } from "./vectors.ts"

const checkout = {
  id: "cs_1",
  client_reference_id: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a.17",
  payment_status: "paid",
  payment_intent: "pi_1",
  amount_total: 4990,
  currency: "usd"
}
const body = stripeEvent("checkout.session.completed", checkout)
const accepted = {
  _tag: "Received" as const,
  events: [{ id: "evt_1", type: "checkout.session.completed", at: now, body }]
}

describe("A request of Stripe", () => {
  it("is accepted if Stripe's library has signed it, as that library accepts it", () => {
    const request = stripeRequest(body)
    assert.deepStrictEqual(receive(request, secret, now), accepted)
    const header = request.headers["stripe-signature"]!
    const event = Stripe.webhooks.constructEvent(body, header, secret, 300, undefined, now)
    assert.strictEqual(event.id, "evt_1")
  })

  it("is accepted with several signatures, if one of them fits", () => {
    const [, other] = stripeRequest(body, { secret: "another" }).headers["stripe-signature"]!.split(",")
    const [time, right] = stripeRequest(body).headers["stripe-signature"]!.split(",")
    for (const header of [`${time},${other},${right}`, `${time},${right},${other}`, `${right}, v0=00, ${time}`]) {
      assert.deepStrictEqual(receive(requestOf({ "stripe-signature": header }, body), secret, now), accepted)
    }
  })

  it("is refused with a wrong secret, an altered body or an altered time", () => {
    const { headers } = stripeRequest(body)
    const later = headers["stripe-signature"]!.replace(`t=${seconds}`, `t=${seconds + 1}`)
    const other = stripeRequest(body, { secret: "another" })
    for (const request of [other, requestOf(headers, `${body} `), requestOf({ "stripe-signature": later }, body)]) {
      assert.deepStrictEqual(receive(request, secret, now), rejected("WRONG_SIGNATURE"))
    }
  })

  it("is refused more than 300 s from its time, as Stripe's library does", () => {
    const request = stripeRequest(body)
    const header = request.headers["stripe-signature"]!
    assert.deepStrictEqual(receive(request, secret, now + 300_000), accepted)
    assert.deepStrictEqual(receive(request, secret, now + 301_000), rejected("NOT_RECENT"))
    assert.deepStrictEqual(receive(request, secret, now - 301_000), rejected("NOT_RECENT"))
    assert.throws(() => Stripe.webhooks.constructEvent(body, header, secret, 300, undefined, now + 301_000))
  })

  it("is refused without signature, and with a header that is none", () => {
    assert.deepStrictEqual(receive(requestOf({}, body), secret, now), rejected("MISSING_SIGNATURE"))
    for (const header of ["", "t=", "v1=", `t=${seconds}`, `t=${seconds},v1=zz`, "v1=00,v1=00", ",,,"]) {
      const request = requestOf({ "stripe-signature": header }, body)
      assert.deepStrictEqual(receive(request, secret, now), rejected("WRONG_SIGNATURE"))
    }
  })

  it("is malformed if its body is not an event", () => {
    for (const text of [
      "",
      "{",
      "[]",
      "null",
      '{"id":"evt_1"}',
      `{"a":${"[".repeat(40)}${"]".repeat(40)}}`,
      "\u0000"
    ]) {
      assert.deepStrictEqual(receive(stripeRequest(text), secret, now), rejected("MALFORMED"))
    }
  })
})

describe("An event of Stripe", () => {
  const paid = {
    _tag: "Paid" as const,
    grant: {
      mechanismId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
      sequence: 17,
      name: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a.17"
    },
    checkoutId: "cs_1",
    paymentId: "pi_1",
    amount: "49.90",
    currencyCode: "USD",
    adjustments: { SHIPPING: 0n, TAX: 0n, DISCOUNT: 0n }
  }

  it("that a checkout is paid means a payment for the grant", () => {
    for (const type of ["checkout.session.completed", "checkout.session.async_payment_succeeded"]) {
      assert.deepStrictEqual(meaningOf(type, stripeEvent(type, checkout)), paid)
    }
    const expanded = { ...checkout, payment_intent: { id: "pi_1", object: "payment_intent" } }
    assert.deepStrictEqual(meaningOf("checkout.session.completed", stripeEvent("", expanded)), paid)
  })

  it("that a checkout is completed but not yet paid means nothing", () => {
    const unpaid = stripeEvent("checkout.session.completed", { ...checkout, payment_status: "unpaid" })
    assert.deepStrictEqual(meaningOf("checkout.session.completed", unpaid), { _tag: "Nothing" })
  })

  it("that a checkout needs no payment means a payment of 0, also if it is due later", () => {
    const free = { ...checkout, payment_status: "no_payment_required", payment_intent: null }
    for (const amount_total of [0, 4990]) {
      const meaning = meaningOf("checkout.session.completed", stripeEvent("", { ...free, amount_total }))
      assert.deepStrictEqual(meaning, { ...paid, paymentId: undefined, amount: "0.00" })
    }
  })

  it("tells shipping, discount, and a tax that is not part of the prices", () => {
    const adjustmentsOf = (amount_total: number, amount_subtotal: number | null, total_details: object | null) => {
      const text = stripeEvent("", { ...checkout, amount_total, amount_subtotal, total_details })
      const meaning = meaningOf("checkout.session.completed", text)
      if (meaning._tag !== "Paid") return meaning
      const { SHIPPING, TAX, DISCOUNT } = meaning.adjustments
      return [SHIPPING, TAX, DISCOUNT].map((amount) => toText(amount))
    }
    const none = { amount_shipping: 0, amount_tax: 0, amount_discount: 0 }
    assert.deepStrictEqual(adjustmentsOf(5490, 4990, { ...none, amount_shipping: 500 }), ["5", "0", "0"])
    assert.deepStrictEqual(adjustmentsOf(5938, 4990, { ...none, amount_tax: 948 }), ["0", "9.48", "0"])
    assert.deepStrictEqual(adjustmentsOf(4990, 4990, { ...none, amount_tax: 797 }), ["0", "0", "0"])
    assert.deepStrictEqual(adjustmentsOf(3992, 4990, { ...none, amount_discount: 998 }), ["0", "0", "9.98"])
    assert.deepStrictEqual(adjustmentsOf(5250, 4990, { amount_shipping: 500, amount_tax: 758, amount_discount: 998 }), [
      "5",
      "7.58",
      "9.98"
    ])
    for (const details of [null, {}, { amount_shipping: null }]) {
      assert.deepStrictEqual(adjustmentsOf(4990, null, details), ["0", "0", "0"])
    }
  })

  it("has its amount in the digits that Stripe uses for the currency", () => {
    const amountIn = (currency: string) => {
      const meaning = meaningOf("checkout.session.completed", stripeEvent("", { ...checkout, currency }))
      return meaning._tag === "Paid" ? `${meaning.amount} ${meaning.currencyCode}` : meaning._tag
    }
    assert.deepStrictEqual(["eur", "jpy", "kwd", "isk"].map(amountIn), [
      "49.90 EUR",
      "4990 JPY",
      "4.990 KWD",
      "49.90 ISK"
    ])
  })

  it("names no grant with another reference", () => {
    for (const client_reference_id of [null, "", "cart 7", "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a.0", "x.1"]) {
      const text = stripeEvent("", { ...checkout, client_reference_id })
      assert.deepInclude(meaningOf("checkout.session.completed", text), { _tag: "Paid", grant: undefined })
    }
  })

  it("of a refund names the payment, and whether all of it is given back", () => {
    for (const refunded of [true, false]) {
      const text = stripeEvent("charge.refunded", { id: "ch_1", payment_intent: "pi_1", refunded })
      const refund = { _tag: "Refunded", paymentId: "pi_1", isWhole: refunded } as const
      assert.deepStrictEqual(meaningOf("charge.refunded", text), refund)
    }
  })

  it("of another type, or without the fields, means nothing", () => {
    assert.deepStrictEqual(meaningOf("customer.created", stripeEvent("", checkout)), { _tag: "Nothing" })
    assert.deepStrictEqual(meaningOf("charge.refunded", stripeEvent("", {})), { _tag: "Nothing" })
    assert.deepStrictEqual(meaningOf("checkout.session.completed", "{"), { _tag: "Nothing" })
  })
})
