import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { MessagePurpose } from "../../../src/domain/message/SentMessage.ts"

describe("The purpose of a message", () => {
  it("is one of the listed words", () => {
    const decode = Schema.decodeUnknownExit(MessagePurpose)
    assert.isTrue(Exit.isSuccess(decode("CODE")))
    assert.isTrue(Exit.isFailure(decode("ADVERTISEMENT")))
  })
})
