import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { Amount, amountMax, ofText, PositiveAmount, smallestOf, toText } from "../../src/domain/Amount.ts"

const decode = Schema.decodeUnknownSync(Amount)

describe("an amount", () => {
  it("is decimal text of at most twelve digits, and eight after the point", () => {
    const texts = ["0", "1", "0.00000001", "999999999999.99999999", "10.50", "007", "000000000000", "0.0"]
    const amounts = [0n, 100_000_000n, 1n, amountMax, 1_050_000_000n, 700_000_000n, 0n, 0n]
    assert.deepStrictEqual(
      texts.map((text) => decode(text)),
      amounts
    )
  })

  it("is nothing else", () => {
    const others = [
      "",
      " 1",
      "1 ",
      "1\n",
      "-1",
      "+1",
      ".5",
      "5.",
      "1e5",
      "1,5",
      "0x10",
      "1.123456789",
      "1234567890123",
      "١",
      "NaN",
      "Infinity",
      1,
      1n,
      null,
      undefined,
      ["1"]
    ]
    for (const other of others) assert.throws(() => decode(other), undefined, undefined, String(other))
  })

  it("has one normal form, without zeros that say nothing", () => {
    const forms: ReadonlyArray<readonly [string, string]> = [
      ["10.50", "10.5"],
      ["007", "7"],
      ["0.0", "0"],
      ["1.00000000", "1"],
      ["0.00000010", "0.0000001"],
      ["100", "100"],
      ["999999999999.99999999", "999999999999.99999999"]
    ]
    for (const [text, normal] of forms) assert.strictEqual(toText(ofText(text)), normal)
  })

  it.prop(
    "comes back from its text as it was, for each amount there is",
    { amount: Arbitrary.schema(Schema.toType(Amount)) },
    ({ amount }) => {
      assert.strictEqual(decode(Schema.encodeSync(Amount)(amount)), amount)
    },
    { arbitrary: { runs: 1_000 } }
  )

  it("adds up exactly", () => {
    assert.strictEqual(toText(ofText("0.1") + ofText("0.2")), "0.3")
    assert.strictEqual(toText(ofText("999999999999.99999998") + 1n), "999999999999.99999999")
  })

  it("above 0 may be asked for", () => {
    const is = (text: string) => Schema.decodeUnknownExit(PositiveAmount)(text)._tag === "Success"
    assert.deepStrictEqual(["0", "0.0", "0.00000001", "5", "x"].map(is), [false, false, true, true, false])
  })

  it("is the smallest of a currency by its digits", () => {
    assert.deepStrictEqual(
      [0, 2, 3, 8].map((digits) => toText(smallestOf(digits))),
      ["1", "0.01", "0.001", "0.00000001"]
    )
  })
})
