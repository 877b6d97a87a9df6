import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { CurrencyCode, TimeZone } from "../../../src/domain/values/Locale.ts"
import {
  isAtLeast,
  JsonObject,
  jsonDepthMax,
  key,
  lengthOf,
  Name,
  storableText,
  trimmed
} from "../../../src/domain/values/Text.ts"

const accepts = (schema: Schema.Codec<unknown, unknown>, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(schema)(value))

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

describe("A name", () => {
  it("is any text of 1 to 200 characters that a database can keep", () => {
    for (const name of ["x", " ", "Ünïcödé 👟", "x".repeat(200), "👟".repeat(200), "line\nbreak", "\u0001"]) {
      assert.isTrue(accepts(Name, name), JSON.stringify(name))
    }
    for (const name of [
      "",
      "x".repeat(201),
      "👟".repeat(201),
      "a\u0000",
      "\ud800",
      "\udc00\ud800",
      1,
      null,
      undefined,
      ["x"]
    ]) {
      assert.isFalse(accepts(Name, name), JSON.stringify(name))
    }
  })
})

describe("The length of a text", () => {
  it("counts characters, also those beyond U+FFFF", () => {
    for (const [text, length] of [
      ["", 0],
      ["abc", 3],
      ["👟", 1],
      ["a🦄𐐀b", 4],
      ["é", 1],
      ["e\u0301", 2]
    ] as const) {
      assert.strictEqual(lengthOf(text), length, text)
    }
    const two = Schema.String.check(isAtLeast(2))
    for (const short of ["🦄", "x", "𠮷"]) assert.isFalse(accepts(two, short))
    for (const long of ["🦄🦄", "xy", "𠮷野"]) assert.isTrue(accepts(two, long))
  })
})

describe("A key", () => {
  it("is the same text in every normal form", () => {
    const decoded = Schema.decodeUnknownSync(key({ minLength: 1, maxLength: 200 }))
    for (const text of ["Chloé", "한국", "Å", "việt", "が", "नु़"]) {
      assert.strictEqual(decoded(text.normalize("NFD")), text.normalize("NFC"))
      assert.strictEqual(decoded(text.normalize("NFC")), text.normalize("NFC"))
    }
    assert.strictEqual(decoded(" Ａ b "), " Ａ b ")
  })
})

describe("A trimmed text", () => {
  it("has no blanks and no invisible characters at its ends", () => {
    for (const text of ["a b", " a b ", "\u00a0a b\u3000", "\u200ba b\ufeff", "\u202aa b\u202c", "\r\na b\t"])
      assert.strictEqual(trimmed(text), "a b")
    assert.strictEqual(trimmed(`a${" ".repeat(100_000)}b`).length, 100_002)
    assert.strictEqual(trimmed("a\u0000"), "a\u0000")
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
