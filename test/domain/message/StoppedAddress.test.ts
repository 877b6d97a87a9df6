import { assert, describe, it } from "@effect/vitest"
import { sameAddress } from "../../../src/domain/message/StoppedAddress.ts"

describe("A stopped address", () => {
  it("has one spelling", () => {
    assert.strictEqual(sameAddress(" Ann@Example.com "), "ann@example.com")
    assert.strictEqual(sameAddress("+4930123"), "+4930123")
  })
})
