import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Alert, AlertLanguage, outbidPauseMinutes, reminderLeadMinutes } from "../../../src/domain/message/Alert.ts"

describe("An email that a consumer asks for", () => {
  it("is answered with the time since which it is wanted, as text", () => {
    const encode = Schema.encodeUnknownSync(Schema.toCodecJson(Alert))
    assert.deepStrictEqual(encode({ isPossible: true, isWanted: true, since: 0 }), {
      isPossible: true,
      isWanted: true,
      since: "1970-01-01T00:00:00.000Z"
    })
    assert.deepInclude(encode({ isPossible: false, isWanted: false, since: null }), { since: null })
  })

  it("has a language of bounded length", () => {
    const accepts = (text: string) => Schema.is(AlertLanguage)(text)
    assert.isTrue(accepts("zh-Hant-TW"))
    assert.isFalse(accepts("x".repeat(36)))
  })

  it("comes early enough to return, and not with every bid", () => {
    assert.deepStrictEqual([reminderLeadMinutes, outbidPauseMinutes], [10, 5])
  })
})
