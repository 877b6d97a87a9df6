import { assert, describe, it } from "@effect/vitest"
import { attachmentOf } from "../../../src/domain/values/FileName.ts"

describe("the name of a saved file", () => {
  it("has the names of its records, in ASCII and in UTF-8", () => {
    assert.strictEqual(
      attachmentOf(["Drop Köln", "東京 Draw"], "csv"),
      "attachment; filename=\"Drop-Koln-Draw.csv\"; filename*=UTF-8''Drop-K%C3%B6ln-%E6%9D%B1%E4%BA%AC-Draw.csv"
    )
    assert.include(attachmentOf(["東京"], "csv"), 'filename="file.csv"')
  })

  it("takes nothing that ends a header, a quote or a folder, whatever the records are called", () => {
    for (const name of [
      'a"b',
      "a\r\nx: y",
      "../../etc/passwd",
      "a\\b",
      "\u202Etxt",
      "\uD800",
      "x".repeat(5_000),
      "'()*"
    ]) {
      const value = attachmentOf([name, name], "csv")
      assert.match(value, /^attachment; filename="[\w-]+\.csv"; filename\*=UTF-8''[\w.~!%-]+\.csv$/, name)
      assert.isBelow(value.length, 500)
    }
  })
})
