import { assert, describe, it } from "@effect/vitest"
import { isCountry, parseEmail, parsePhone } from "../../../src/domain/consumer/Address.ts"

describe("A phone number", () => {
  it("is the same in every notation of its country", () => {
    const notations: ReadonlyArray<readonly [string, string | undefined, string]> = [
      ["0151 12345678", "DE", "+4915112345678"],
      ["0151/123-456-78", "de", "+4915112345678"],
      ["+49 (0) 151 12345678", undefined, "+4915112345678"],
      ["0049 151 12345678", "DE", "+4915112345678"],
      ["011 49 151 12345678", "US", "+4915112345678"],
      ["+49 151 12345678", "US", "+4915112345678"],
      ["(202) 555-0123", "US", "+12025550123"],
      ["1-202-555-0123", "US", "+12025550123"],
      ["07400 123456", "GB", "+447400123456"],
      ["06 12 34 56 78", "FR", "+33612345678"],
      ["090-1234-5678", "JP", "+819012345678"],
      ["312 345 6789", "IT", "+393123456789"],
      ["(11) 96123-4567", "BR", "+5511961234567"],
      ["050-234-5678", "IL", "+972502345678"],
      ["٠٥٠١٢٣٤٥٦٧", "SA", "+966501234567"],
      ["  +4915112345678  ", undefined, "+4915112345678"]
    ]
    for (const [text, country, expected] of notations) {
      assert.strictEqual(parsePhone(text, country)?.value, expected, `${text} in ${country}`)
    }
  })

  it("with a plus sign in any form is of the country that it names, and of no other", () => {
    for (const plus of ["+", "＋", "﹢", "⁺", "\u200e+", "\u202a+", "(+", "（＋", "tel:+"]) {
      const text = `${plus}81${plus.includes("(") || plus.includes("（") ? ")" : ""} 90-1234-5678`
      for (const country of ["DE", "US", "JP", undefined]) {
        assert.strictEqual(parsePhone(text, country)?.value, "+819012345678", `${text} in ${country}`)
      }
    }
  })

  it("has the digits and separators of every script", () => {
    const notations: ReadonlyArray<readonly [string, string, string]> = [
      ["+٨١ ٩٠ ١٢٣٤ ٥٦٧٨", "DE", "+819012345678"],
      ["۰۹۱۲۳۴۵۶۷۸۹", "IR", "+989123456789"],
      ["०९८७६५ ४३२१०", "IN", "+919876543210"],
      ["０９０ー１２３４ー５６７８", "JP", "+819012345678"],
      ["０１５１／１２３４５６７８", "DE", "+4915112345678"],
      ["0151\u20131234\u2013\u200b5678", "DE", "+4915112345678"],
      ["0151\u00a01234\u30005678", "DE", "+4915112345678"]
    ]
    for (const [text, country, expected] of notations)
      assert.strictEqual(parsePhone(text, country)?.value, expected, text)
  })

  it("with an international prefix is of the country that it names, or is rejected", () => {
    for (const [text, country] of [
      ["0049 151 12345678", "US"],
      ["0049 151 12345678", "JP"],
      ["0049 151 12345678", undefined],
      ["010 49 151 12345678", "JP"],
      ["0011 49 151 12345678", "AU"],
      ["001 49 151 12345678", "KR"],
      ["810 49 151 12345678", "RU"]
    ] as const) {
      assert.strictEqual(parsePhone(text, country)?.value, "+4915112345678", `${text} in ${country}`)
    }
    // The zero in brackets makes it a landline in Como, and without the zero it is a mobile.
    for (const text of ["+39 (0)312 345 6789", "+0049 151 12345678", "++49 151 12345678", "49 151 12345678+"])
      assert.isUndefined(parsePhone(text, "IT"), text)
  })

  it("that no country uses is rejected", () => {
    const wrong: ReadonlyArray<readonly [string, string | undefined]> = [
      ["", "DE"],
      ["123", "DE"],
      ["0151 12345678", undefined],
      ["0151 12345678", "XX"],
      ["+999 123456789", undefined],
      ["+1 000 000 0000", undefined],
      ["+49", undefined],
      ["not a number", "DE"],
      ["call +4915112345678 now", undefined],
      ["+4915112345678 ext. 5", undefined],
      ["+4915112345678, +4915112345679", undefined],
      ["030 1234 / 030 5678", "DE"],
      ["0151 12345678\n0160 1234567", "DE"],
      ["1-800-FLOWERS", "US"],
      ["tel:0151;phone-context=+49", "US"],
      ["+49151123456789012345", undefined],
      ["1".repeat(100_000), "DE"],
      ["+4915112345678\u0000", undefined],
      ["0900 1234567", "DE"]
    ]
    for (const [text, country] of wrong)
      assert.isUndefined(parsePhone(text, country), `${text.slice(0, 40)} in ${country}`)
  })

  it("belongs to a country with two letters", () => {
    for (const country of ["DE", "us", "Gb"]) assert.isTrue(isCountry(country))
    for (const country of ["", "D", "DEU", "Germany", "XX", "49", "constructor"]) assert.isFalse(isCountry(country))
  })
})

describe("An email address", () => {
  it("is stored in lower case, without surrounding space", () => {
    assert.strictEqual(parseEmail("  Ann.Other+Drop@Example.COM ")?.value, "ann.other+drop@example.com")
    assert.strictEqual(parseEmail("jürgen@bücher.example")?.value, "jürgen@bücher.example")
    assert.strictEqual(parseEmail("ju\u0308rgen@example.com")?.value, "jürgen@example.com")
  })

  it("is exactly one address", () => {
    const wrong = [
      "",
      "ann",
      "@example.com",
      "ann@",
      "ann@localhost",
      "ann@example..com",
      "ann@-example.com",
      ".ann@example.com",
      "ann.@example.com",
      "a nn@example.com",
      "ann@example.com,bob@example.com",
      "ann@example.com\r\nBcc: bob@example.com",
      "Ann <ann@example.com>",
      '"ann"@example.com',
      "ann@[127.0.0.1]",
      "ann@example.com\u0000",
      `${"a".repeat(65)}@example.com`,
      `ann@${"example.".repeat(40)}com`,
      `${"a.".repeat(50_000)}@example.com`
    ]
    for (const text of wrong) assert.isUndefined(parseEmail(text), text.slice(0, 40))
  })
})
