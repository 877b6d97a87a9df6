import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { EmailText, normalizedEmail } from "../../../src/domain/values/Email.ts"

describe("An email address", () => {
  it("is compared in lower case", () => {
    assert.strictEqual(normalizedEmail(" Ann.Lee@Example.COM "), "ann.lee@example.com")
  })

  it("has a host name, and nothing that ends a header or begins a second address", () => {
    const isAccepted = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(EmailText)(text))
    assert.isTrue(isAccepted("ops@shop.example"))
    for (const text of ["ops", "ops@shop", "ops@shop.example,eve@evil.example", "ops@shop.example\r\nBcc: x@y.zz"]) {
      assert.isFalse(isAccepted(text), text)
    }
  })
})
