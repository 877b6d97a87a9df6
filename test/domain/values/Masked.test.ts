import { assert, describe, it } from "@effect/vitest"
import { masked } from "../../../src/domain/values/Masked.ts"

describe("A masked address", () => {
  it("keeps enough to recognize a typing error, and too little to contact the consumer", () => {
    assert.strictEqual(masked("ann@example.com"), "a…@example.com")
    assert.strictEqual(masked("+4915112345678"), "+49…78")
  })
})
