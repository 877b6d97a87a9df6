import { assert, describe, it } from "@effect/vitest"
import { meaningOf, receive } from "../../../src/domain/receiver/Adapters.ts"
import { now, standardRequest, standardSecret, stripeEvent, stripeRequest, stripeSecret } from "./vectors.ts"

const body = stripeEvent("charge.refunded", { payment_intent: "pi_1", refunded: true })

describe("The adapters", () => {
  it("accept the present and the former secret", () => {
    const request = stripeRequest(body)
    for (const secrets of [[stripeSecret], [stripeSecret, "former"], ["present", stripeSecret]]) {
      assert.strictEqual(receive("stripe", request, { secrets, mode: "live" }, now)._tag, "Received")
    }
    for (const secrets of [[], ["present"], ["present", "former"]]) {
      assert.deepStrictEqual(receive("stripe", request, { secrets, mode: "live" }, now), {
        _tag: "Rejected",
        reason: "WRONG_SIGNATURE"
      })
    }
  })

  it("say of a request with the former secret why it is refused", () => {
    const late = receive(
      "stripe",
      stripeRequest(body),
      { secrets: ["present", stripeSecret], mode: "live" },
      now + 301_000
    )
    assert.deepStrictEqual(late, { _tag: "Rejected", reason: "NOT_RECENT" })
  })

  it("accept no request of another provider", () => {
    const stripe = stripeRequest(body)
    for (const name of ["twilio", "sendgrid", "standard"] as const) {
      assert.strictEqual(receive(name, stripe, { secrets: [stripeSecret], mode: "live" }, now)._tag, "Rejected")
    }
    assert.strictEqual(
      receive("stripe", standardRequest(body), { secrets: [standardSecret], mode: "live" }, now)._tag,
      "Rejected"
    )
  })

  it("accept events of the receiver's mode alone, if they tell one", () => {
    const outcomeOf = (livemode: unknown, mode: "live" | "test") => {
      const text = JSON.stringify({ ...JSON.parse(body), livemode })
      const outcome = receive("stripe", stripeRequest(text), { secrets: ["present", stripeSecret], mode }, now)
      return outcome._tag === "Received" ? "Received" : outcome.reason
    }
    const outcomes = [undefined, true, false].flatMap((livemode) => [
      outcomeOf(livemode, "live"),
      outcomeOf(livemode, "test")
    ])
    assert.deepStrictEqual(outcomes, ["Received", "Received", "Received", "WRONG_MODE", "WRONG_MODE", "Received"])
    for (const livemode of ["false", 0, null]) assert.strictEqual(outcomeOf(livemode, "live"), "MALFORMED")
    // Nothing is said of the mode without the signature.
    const forged = stripeRequest(JSON.stringify({ ...JSON.parse(body), livemode: false }), { secret: "another" })
    assert.deepStrictEqual(receive("stripe", forged, { secrets: [stripeSecret], mode: "live" }, now), {
      _tag: "Rejected",
      reason: "WRONG_SIGNATURE"
    })
  })

  it("give the meaning of their own events alone", () => {
    assert.strictEqual(meaningOf("stripe", "charge.refunded", body)._tag, "Refunded")
    assert.strictEqual(meaningOf("standard", "charge.refunded", body)._tag, "Nothing")
  })
})
