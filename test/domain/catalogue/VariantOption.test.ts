import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { orderProblems, Settings, ValueSettings } from "../../../src/domain/catalogue/VariantOption.ts"

describe("a variant option", () => {
  it("is set by a name alone", () => {
    const isAccepted = Schema.is(Settings)
    assert.isTrue(isAccepted({ name: "Size" }))
    assert.deepStrictEqual([{}, { name: "" }, { name: "x".repeat(201) }].filter(isAccepted), [])
  })
})

describe("a value of a variant option", () => {
  const isAccepted = (input: unknown) => Result.isSuccess(Schema.decodeUnknownResult(ValueSettings)(input))
  const value = { value: "S", isCentrallyManaged: true }

  it("is a text, and whether it is centrally managed", () => {
    assert.isTrue(isAccepted(value))
    assert.isTrue(isAccepted({ ...value, displayValue: "Small", colorHex: "#00fF9a", isCentrallyManaged: false }))
    const wrong = [
      { value: "S" },
      { ...value, value: "" },
      { ...value, value: "x".repeat(201) },
      { ...value, value: "S\u0000" },
      { ...value, displayValue: "" },
      { ...value, displayValue: "x".repeat(201) },
      { ...value, isCentrallyManaged: "true" }
    ]
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })

  it("has a colour of 3, 4, 6 or 8 hexadecimal digits, if any", () => {
    for (const colorHex of ["#0f9", "#0F98", "#00ff9a", "#00fF9a80"]) assert.isTrue(isAccepted({ ...value, colorHex }))
    const wrong = ["", "red", "00ff9a", "0f9", "#", "#0", "#0f", "#00ff9", "#00ff9a0", "#00ff9a000"]
    wrong.push("#00ff9g", "#0fg", "#00ff9a\n", " #00ff9a")
    assert.deepStrictEqual(
      wrong.filter((colorHex) => isAccepted({ ...value, colorHex })),
      []
    )
  })
})

describe("an order of values", () => {
  it("names each of them once", () => {
    assert.deepStrictEqual(orderProblems(["a", "b", "c"], ["c", "a", "b"]), [])
    assert.deepStrictEqual(orderProblems([], []), [])
  })

  it("has one problem for each identifier that keeps it from being one", () => {
    assert.deepStrictEqual(orderProblems(["a", "b", "c", "d"], ["b", "x", "a", "b", "b", "x"]), [
      { problem: "unknown", id: "x", index: 1 },
      { problem: "duplicate", id: "b", index: 3 },
      { problem: "omitted", id: "c" },
      { problem: "omitted", id: "d" }
    ])
    assert.deepStrictEqual(orderProblems(["a"], []), [{ problem: "omitted", id: "a" }])
    assert.deepStrictEqual(orderProblems([], ["a"]), [{ problem: "unknown", id: "a", index: 0 }])
  })

  it.prop(
    "has none exactly if it is a permutation",
    [Schema.Array(Schema.Literals(["a", "b", "c", "d"]))],
    ([order]) => {
      const isPermutation = order.toSorted().join() === "a,b,c"
      assert.strictEqual(orderProblems(["a", "b", "c"], order).length === 0, isPermutation)
    }
  )
})
