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

  it("keeps its milliseconds, and drops finer digits", () => {
    assert.strictEqual(toText(decode("2026-11-21T18:00:00.25Z")), "2026-11-21T18:00:00.250Z")
    assert.strictEqual(toText(decode("2026-11-21T18:00:00.123999999Z")), "2026-11-21T18:00:00.123Z")
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
      "+010000-01-01T00:00:00Z"
    ]
    assert.deepStrictEqual(
      inputs.filter((input) => !isRefused(input)),
      []
    )
  })
})
