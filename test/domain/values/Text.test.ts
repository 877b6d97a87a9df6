import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { CurrencyCode, TimeZone } from "../../../src/domain/values/Locale.ts"
import { JsonObject, jsonDepthMax, Name, storableText } from "../../../src/domain/values/Text.ts"

const accepts = (schema: Schema.Codec<unknown, unknown>, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(schema)(value))

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

describe("A name", () => {
  it("is any text of 1 to 200 units that a database can keep", () => {
    for (const name of ["x", " ", "Ünïcödé 👟", "x".repeat(200), "line\nbreak", "\u0001"]) {
      assert.isTrue(accepts(Name, name), JSON.stringify(name))
    }
    for (const name of ["", "x".repeat(201), "a\u0000", "\ud800", "\udc00\ud800", 1, null, undefined, ["x"]]) {
      assert.isFalse(accepts(Name, name), JSON.stringify(name))
    }
  })
})

describe("Text from outside", () => {
  it("is stored as it is, unless the database cannot", () => {
    for (const [outside, stored] of [
      ["ok\u0000", "ok\uFFFD"],
      ["\u0000\u0000", "\uFFFD\uFFFD"],
      ["a\ud800b", "a\uFFFDb"],
      ["\udc00\ud800", "\uFFFD\uFFFD"],
      ["Ünïcödé 👟\n\u0001", "Ünïcödé 👟\n\u0001"],
      [Buffer.from("ok\u0000"), "ok\uFFFD"],
      [Buffer.from([0x61, 0xff, 0xfe, 0x62]), "a\uFFFD\uFFFDb"],
      [Buffer.from([0xed, 0xa0, 0x80]), "\uFFFD\uFFFD\uFFFD"],
      [Buffer.from("👟👟").subarray(0, 6), "👟"],
      [Buffer.from("\ufeffok"), "\ufeffok"],
      [Buffer.alloc(0), ""]
    ] as const) {
      assert.strictEqual(storableText(outside), stored)
      assert.isTrue(accepts(Name, `x${storableText(outside)}`))
    }
  })
})

describe("Free JSON", () => {
  it("is an object of any values", () => {
    assert.isTrue(accepts(JsonObject, {}))
    assert.isTrue(accepts(JsonObject, { a: [1, "two", null, true, { b: {} }] }))
    for (const value of [[], "text", 1, null, undefined]) assert.isFalse(accepts(JsonObject, value))
  })

  it("is nested so deep and no deeper", () => {
    assert.isTrue(accepts(JsonObject, { a: nested(jsonDepthMax - 1) }))
    assert.isFalse(accepts(JsonObject, { a: nested(jsonDepthMax) }))
    assert.isFalse(accepts(JsonObject, { a: nested(500_000) }))
  })

  it("holds no number that JSON cannot write", () => {
    assert.isTrue(accepts(JsonObject, { a: [1e308, -0.5] }))
    assert.isFalse(accepts(JsonObject, JSON.parse('{"a": [{"b": 1e999}]}')))
  })

  it("holds no text that a database cannot keep, in no key and no value", () => {
    for (const bad of ["\u0000", "\ud800"]) {
      assert.isFalse(accepts(JsonObject, { a: bad }))
      assert.isFalse(accepts(JsonObject, { [bad]: 1 }))
      assert.isFalse(accepts(JsonObject, { a: [{ b: [{ [bad]: 1 }] }] }))
      assert.isFalse(accepts(JsonObject, { a: [{ b: ["x", bad] }] }))
    }
  })
})

describe("A time zone", () => {
  it("is one that the IANA database names", () => {
    for (const zone of ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Asia/Kathmandu", "Etc/GMT+3"]) {
      assert.isTrue(accepts(TimeZone, zone), zone)
    }
    for (const zone of ["", "Mars/Olympus", "+01:00", "-0300", "UTC+1", "Europe/Berlin ", "Europe", null, 1]) {
      assert.isFalse(accepts(TimeZone, zone), String(zone))
    }
  })
})

describe("A currency", () => {
  it("has three capital letters", () => {
    for (const code of ["EUR", "JPY", "XTS"]) assert.isTrue(accepts(CurrencyCode, code))
    for (const code of ["", "eur", "EU", "EURO", "E R", "€€€", null]) assert.isFalse(accepts(CurrencyCode, code))
  })
})
