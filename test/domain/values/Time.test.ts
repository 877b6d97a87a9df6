import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Timestamp, toText } from "../../../src/domain/values/Time.ts"

const decode = Schema.decodeUnknownSync(Timestamp)
const isRefused = (input: unknown): boolean => !Schema.is(Schema.toEncoded(Timestamp))(input)

describe("an instant", () => {
  it("comes in with any offset and goes out as UTC with milliseconds", () => {
    assert.strictEqual(decode("2026-11-21T18:00:00Z"), Date.UTC(2026, 10, 21, 18))
    assert.strictEqual(toText(decode("2026-11-21T18:00:00+05:30")), "2026-11-21T12:30:00.000Z")
    assert.strictEqual(toText(decode("2026-11-21T18:00-08:00")), "2026-11-22T02:00:00.000Z")
  })

  it("comes in with every form of an offset that programs write", () => {
    const forms = [
      ["2027-05-01T12:00:00+02", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01T12:00:00+0200", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01T12:00:00-0930", "2027-05-01T21:30:00.000Z"],
      ["2027-05-01T12:00:00+0545", "2027-05-01T06:15:00.000Z"],
      ["2027-05-01T12:00:00-03", "2027-05-01T15:00:00.000Z"],
      ["2027-05-01T12:00:00\u221203:00", "2027-05-01T15:00:00.000Z"],
      ["2027-05-01t10:00:00z", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01t10:00:00+00", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01T10:00:00-00:00", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01T10:00:00-00", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01 12:00:00+02", "2027-05-01T10:00:00.000Z"],
      ["2027-05-01T12:00+14", "2027-04-30T22:00:00.000Z"],
      ["2027-05-01T12:00:00.5+0200", "2027-05-01T10:00:00.500Z"],
      ["2027-05-01T12:00:00,25+02", "2027-05-01T10:00:00.250Z"],
      ["2027-12-31T24:00:00Z", "2028-01-01T00:00:00.000Z"]
    ]
    for (const [text, at] of forms) assert.strictEqual(toText(decode(text)), at, text)
  })

  it("may be a leap second, at the end of a month in UTC", () => {
    for (const [text, at] of [
      ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
      ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
      ["2015-07-01T05:29:60.5+0530", "2015-07-01T00:00:00.500Z"],
      ["2028-02-29T23:59:60z", "2028-03-01T00:00:00.000Z"]
    ] as const) {
      assert.strictEqual(toText(decode(text)), at, text)
    }
    for (const text of [
      "2016-12-31T22:59:60Z",
      "2016-12-30T23:59:60Z",
      "2016-12-31T23:59:60+01:00",
      "9999-12-31T23:59:60Z"
    ]) {
      assert.isTrue(isRefused(text), text)
    }
  })

  it("is refused with a part of an offset, or with more than one", () => {
    for (const offset of [
      "+2",
      "+02:",
      "+020",
      "+02:0",
      "+24",
      "+02:60",
      "+2400",
      "+02:00:00",
      "Z+02",
      "GMT",
      "+",
      " 02:00"
    ]) {
      assert.isTrue(isRefused(`2027-05-01T12:00:00${offset}`), offset)
    }
    for (const text of [
      "2027-05-01T12:00:00.Z",
      "2027-05-01T12:00:00.+02",
      "2027-05-01T12Z",
      "20270501T120000Z",
      "2027-05-01T12:00:00Z\n"
    ]) {
      assert.isTrue(isRefused(text), text)
    }
  })

  it("keeps its milliseconds, and drops finer digits", () => {
    assert.strictEqual(toText(decode("2026-11-21T18:00:00.25Z")), "2026-11-21T18:00:00.250Z")
    assert.strictEqual(toText(decode("2026-11-21T18:00:00.123999999Z")), "2026-11-21T18:00:00.123Z")
    assert.strictEqual(toText(decode(`2026-11-21T18:00:00.0${"9".repeat(5_000)}Z`)), "2026-11-21T18:00:00.099Z")
  })

  it("survives the way out and back in", () => {
    for (const at of [0, 1, 951_782_400_000, 253_402_300_799_999]) assert.strictEqual(decode(toText(at)), at)
  })

  it("is refused without an offset, as a bare date, in words or as a number", () => {
    const inputs = [
      "2026-11-21T18:00:00",
      "2026-11-21",
      "Sat, 21 Nov 2026 18:00:00 GMT",
      "tomorrow",
      "",
      1_795_284_000_000
    ]
    assert.deepStrictEqual(
      inputs.filter((input) => !isRefused(input)),
      []
    )
  })

  it("is refused on a day or at an hour that does not exist", () => {
    const inputs = [
      "2026-02-29T00:00:00Z",
      "2026-02-30T00:00:00Z",
      "2026-04-31T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-01-01T25:00:00Z",
      "2026-01-01T10:60:00Z",
      "2026-01-01T10:00:61Z",
      "2026-01-01T10:00:00+24:00"
    ]
    assert.deepStrictEqual(
      inputs.filter((input) => !isRefused(input)),
      []
    )
    assert.isFalse(isRefused("2028-02-29T00:00:00Z"))
  })

  it("is refused before 1970 and after 9999", () => {
    const inputs = [
      "1969-12-31T23:59:59.999Z",
      "1970-01-01T00:00:00+01:00",
      "9999-12-31T23:59:59-01:00",
      "+010000-01-01T00:00:00Z",
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00Z",
      "0050-06-01T00:00:00Z",
      "-0001-01-01T00:00:00Z",
      "-000001-01-01T00:00:00Z",
      "9999-12-31T24:00:00Z",
      "10000-01-01T00:00:00Z"
    ]
    assert.deepStrictEqual(
      inputs.filter((input) => !isRefused(input)),
      []
    )
  })
})
