import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { SecurityEventType } from "../../../src/domain/organization/SecurityEvent.ts"

const isType = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(SecurityEventType)(text))

describe("A security event", () => {
  it("is of one of the declared kinds", () => {
    for (const type of ["sign_in", "lock_out", "key_rotation", "code_flood", "challenge_refused"]) {
      assert.isTrue(isType(type), type)
    }
    assert.isFalse(isType("something_else"))
  })
})
