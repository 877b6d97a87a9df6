import { assert, describe, it } from "@effect/vitest"
import { typedNumber } from "../../../src/domain/values/TypedNumber.ts"

describe("A typed phone number", () => {
  it("keeps its digits and whether a plus sign came first", () => {
    const international = { isInternational: true, digits: "4915112345678", withoutTrunkZero: undefined }
    for (const text of [
      "+49 151 12345678",
      "＋49-151-1234-5678",
      "(+49) 151.12345678",
      "tel:+4915112345678",
      "➕49 151/12345678"
    ])
      assert.deepStrictEqual(typedNumber(text), international, text)
    assert.deepStrictEqual(typedNumber("０３０ー１２３４"), {
      ...international,
      isInternational: false,
      digits: "0301234"
    })
    assert.deepInclude(typedNumber("+49 (0) 30 1234"), { digits: "490301234", withoutTrunkZero: "49301234" })
  })

  it("is not what could be dropped or dialled", () => {
    for (const text of [
      "",
      "+",
      "()",
      "1-800-FLOWERS",
      "030 1234 ext. 5",
      "030 1234x5",
      "030 1234#5",
      "030 1234,5",
      "030 1234;ext=5",
      "030 1234 / 030 5678",
      "030 12345678/9",
      "030 1/2/3",
      "030 1234\n030 5678",
      "030 1234 or 5678",
      "49301234+",
      "++49301234",
      "+49 +301234",
      "²30 1234",
      "030 1234~5678",
      "1".repeat(65)
    ]) {
      assert.isUndefined(typedNumber(text), text)
    }
  })
})
