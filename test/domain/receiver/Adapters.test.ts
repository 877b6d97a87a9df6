import { assert, describe, it } from "@effect/vitest"
import { meaningOf, receive } from "../../../src/domain/receiver/Adapters.ts"
import { now, standardRequest, standardSecret, stripeEvent, stripeRequest, stripeSecret } from "./vectors.ts"

const body = stripeEvent("charge.refunded", { payment_intent: "pi_1", refunded: true })

describe("The adapters", () => {
  it("accept the present and the former secret", () => {
    const request = stripeRequest(body)
    for (const secrets of [[stripeSecret], [stripeSecret, "former"], ["present", stripeSecret]]) {
      assert.strictEqual(receive("stripe", request, secrets, now)._tag, "Received")
    }
    for (const secrets of [[], ["present"], ["present", "former"]]) {
      assert.deepStrictEqual(receive("stripe", request, secrets, now), { _tag: "Rejected", reason: "WRONG_SIGNATURE" })
    }
  })

  it("say of a request with the former secret why it is refused", () => {
    const late = receive("stripe", stripeRequest(body), ["present", stripeSecret], now + 301_000)
    assert.deepStrictEqual(late, { _tag: "Rejected", reason: "NOT_RECENT" })
  })

  it("accept no request of another provider", () => {
    const stripe = stripeRequest(body)
    for (const name of ["twilio", "sendgrid", "standard"] as const) {
      assert.strictEqual(receive(name, stripe, [stripeSecret], now)._tag, "Rejected")
    }
    assert.strictEqual(receive("stripe", standardRequest(body), [standardSecret], now)._tag, "Rejected")
  })

  it("give the meaning of their own events alone", () => {
    assert.strictEqual(meaningOf("stripe", "charge.refunded", body)._tag, "Refunded")
    assert.strictEqual(meaningOf("standard", "charge.refunded", body)._tag, "Nothing")
  })
})
