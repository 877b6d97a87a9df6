import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  CurrencyCode,
  defaultCurrencyCode,
  defaultTimeZone,
  fractionDigitsOf,
  TimeZone
} from "../../../src/domain/values/Locale.ts"

describe("a time zone", () => {
  it("is one of the IANA database", () => {
    const zones = ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kathmandu", defaultTimeZone]
    assert.deepStrictEqual(zones.filter(Schema.is(TimeZone)), zones)
  })

  it("is refused if it is a fixed offset, unknown or empty", () => {
    assert.deepStrictEqual(["+01:00", "Europe/Atlantis", "Berlin", "", " UTC", 1].filter(Schema.is(TimeZone)), [])
  })
})

describe("a currency", () => {
  it("is three capital letters", () => {
    const inputs = ["EUR", defaultCurrencyCode, "eur", "EURO", "EU", "E1R", "", "EUR\n", 978]
    assert.deepStrictEqual(inputs.filter(Schema.is(CurrencyCode)), ["EUR", defaultCurrencyCode])
  })
  it("has as many digits after the point as it has, two where nothing is known of it", () => {
    assert.deepStrictEqual(["EUR", "JPY", "KWD", "XYZ"].map(fractionDigitsOf), [2, 0, 3, 2])
    // The digits of the runtime's locale data differ for these.
    const digits = { AFN: 2, ALL: 2, COP: 2, HUF: 2, IDR: 2, IQD: 3, IRR: 2, LBP: 2, MGA: 2, MMK: 2, PKR: 2, YER: 2 }
    for (const [code, count] of Object.entries(digits)) assert.strictEqual(fractionDigitsOf(code), count, code)
    assert.deepStrictEqual(["CLF", "UYW", "ISK", "UGX", "TND"].map(fractionDigitsOf), [4, 4, 0, 0, 3])
  })
})
