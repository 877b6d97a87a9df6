import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import {
  Amount,
  amountMax,
  digitsOf,
  isBelow,
  ofText,
  plus,
  PositivePrice,
  Price,
  smallestOf,
  toText
} from "../../../src/domain/values/Amount.ts"

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

  it("is written with more digits where these are asked for", () => {
    const written = [0, 1, 2, 8].map((digits) => toText(ofText("19.9"), digits))
    assert.deepStrictEqual(written, ["19.9", "19.9", "19.90", "19.90000000"])
    assert.strictEqual(toText(ofText("19.995"), 2), "19.995")
    assert.strictEqual(toText(0n, 2), "0.00")
  })

  it("adds up exactly", () => {
    assert.strictEqual(toText(ofText("0.1") + ofText("0.2")), "0.3")
    assert.strictEqual(toText(ofText("999999999999.99999998") + 1n), "999999999999.99999999")
  })

  it("is the smallest of a currency by its digits", () => {
    assert.deepStrictEqual(
      [0, 2, 3, 8].map((digits) => toText(smallestOf(digits))),
      ["1", "0.01", "0.001", "0.00000001"]
    )
  })
})

describe("a price", () => {
  it("is the text of an amount, and stays as it was written", () => {
    const decode = Schema.decodeUnknownSync(Price)
    for (const text of ["19.90", "007.5", "0.0", "100", "1.00000000"]) {
      assert.strictEqual(Schema.encodeSync(Price)(decode(text)), text)
    }
    for (const other of ["", "-1", "1.123456789", "1e5", 1]) assert.throws(() => decode(other))
  })

  it("above 0 may be asked for", () => {
    const is = (text: unknown) => Schema.decodeUnknownExit(PositivePrice)(text)._tag === "Success"
    assert.deepStrictEqual(["0", "0.0", "0.00000001", "5", "x", 5].map(is), [false, false, true, true, false, false])
  })

  it("is added and compared exactly, however it is written", () => {
    assert.deepStrictEqual(
      [plus("19.90", "0.1"), plus("0.1", "0.2"), plus("1", "2"), plus("10", "0.00000001")],
      ["20.00", "0.3", "3", "10.00000001"]
    )
    assert.deepStrictEqual([isBelow("9.99", "10"), isBelow("10.0", "10"), isBelow("10", "9.99")], [true, false, false])
  })

  it("has so many digits after the point", () => {
    assert.deepStrictEqual(["19.90", "100", "0.00000001", "5.0"].map(digitsOf), [2, 0, 8, 1])
  })
})
