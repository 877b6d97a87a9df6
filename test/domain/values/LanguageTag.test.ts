import { assert, describe, it } from "@effect/vitest"
import { canonicalTag } from "../../../src/domain/values/LanguageTag.ts"

describe("A language's tag", () => {
  it("has its present form, whatever form it came in", () => {
    for (const [text, tag] of [
      ["iw", "he"],
      ["in-ID", "id-ID"],
      ["ji", "yi"],
      ["jw", "jv"],
      ["no", "no"],
      ["zh_TW", "zh-TW"],
      ["zh-CN", "zh-CN"],
      ["cmn-Hans-CN", "zh-Hans-CN"],
      ["de_DE", "de-DE"],
      ["DE_de.utf8", "de-DE"],
      ["sr_RS@latin", "sr-RS"],
      ["\ten-gb\n", "en-GB"]
    ] as const) {
      assert.strictEqual(canonicalTag(text), tag)
    }
  })

  it("is none in other text", () => {
    for (const text of [
      "",
      "*",
      "1",
      "de--DE",
      "_de",
      "de_",
      "x-pig",
      "deutschland",
      "de DE",
      "de\u0000",
      "en-a-a-a",
      "ü"
    ]) {
      assert.isUndefined(canonicalTag(text), text)
    }
  })
})
