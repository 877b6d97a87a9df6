import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { pathOf, secretProblemOf, Settings } from "../../../src/domain/receiver/Receiver.ts"
import { sendGridKeys } from "./vectors.ts"

describe("A receiver", () => {
  it("of SendGrid has a public key on P-256 as its secret, others have any text without `whsec_`", () => {
    const other = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" }).toString("base64")
    assert.isUndefined(secretProblemOf("sendgrid", sendGridKeys.publicKey))
    for (const secret of [other, "a secret of sixteen"]) {
      assert.isDefined(secretProblemOf("sendgrid", secret))
      for (const adapter of ["stripe", "twilio", "standard"] as const)
        assert.isUndefined(secretProblemOf(adapter, secret))
    }
  })

  it("of Standard Webhooks has Base64 behind `whsec_`; Stripe's text is the key as it is", () => {
    for (const secret of [
      "whsec_!!!!!!!!!!!!!!!!",
      "whsec_not Base64 at all",
      `whsec_${"A".repeat(21)}`,
      "whsec_AAAAAAAAAA"
    ]) {
      assert.isDefined(secretProblemOf("standard", secret), secret)
      assert.isUndefined(secretProblemOf("stripe", secret), secret)
    }
  })

  it("has a known adapter, and an https URL", () => {
    const isValid = Schema.is(Settings)
    assert.isTrue(isValid({ adapter: "stripe" }))
    assert.isFalse(isValid({ adapter: "paypal" }))
    assert.isTrue(isValid({ adapter: "twilio", url: "https://drop.example.com/hooks/1" }))
    assert.isFalse(isValid({ adapter: "twilio", url: "http://drop.example.com/hooks/1" }))
  })

  it("has a path with its id", () => assert.strictEqual(pathOf("1"), "/hooks/1"))
})
