import { assert, describe, it } from "@effect/vitest"
import { amountOf } from "../../src/pages/Amounts.ts"
import { formatsOf } from "../../src/pages/Formats.ts"
import { languages } from "../../src/pages/Words.ts"

/** A typed text, the language of the page, the currency, and what is meant. */
type Row = readonly [typed: string, language: string, currencyCode: string, amount: string | undefined]

const assertRows = (rows: ReadonlyArray<Row>) => {
  for (const [typed, language, currencyCode, amount] of rows) {
    assert.strictEqual(amountOf(typed, language, currencyCode), amount, `${typed} in ${language} and ${currencyCode}`)
  }
}

describe("A typed amount", () => {
  it("with one separator before three digits is read by the language", () =>
    assertRows([
      ["1.500", "de", "EUR", "1500"],
      ["1.500", "nl", "EUR", "1500"],
      ["1.500", "pt-BR", "BRL", "1500"],
      ["1.500", "id", "IDR", "1500"],
      ["1.500", "tr", "TRY", "1500"],
      ["1,500", "en", "USD", "1500"],
      ["1,500", "ja", "JPY", "1500"],
      ["1,500", "he", "ILS", "1500"],
      ["12,500", "fr", "TND", "12.500"],
      ["12.500", "en", "KWD", "12.500"],
      ["12,500", "en", "KWD", "12500"],
      ["12.500", "de", "BHD", "12500"]
    ]))

  it("that could be two amounts is asked for again", () =>
    assertRows([
      // A fraction finer than a cent is unlikely, and so is a point between thousands here.
      ["1.500", "en", "EUR", undefined],
      ["12,500", "fr", "EUR", undefined],
      ["1.500", "fr", "EUR", undefined],
      ["1.500", "pl", "PLN", undefined],
      ["1.000", "en", "JPY", undefined],
      ["1,500", "es", "MXN", undefined],
      // Kuwait and Tunisia write Arabic with different separators.
      ["12,500", "ar", "TND", undefined],
      ["12.500", "ar", "KWD", undefined]
    ]))

  it("that can be only one amount is read in any language", () =>
    assertRows([
      ["12", "en", "EUR", "12"],
      ["12,5", "en", "EUR", "12.5"],
      ["12.50", "de", "EUR", "12.50"],
      ["1.234,50", "en", "EUR", "1234.50"],
      ["1,234.50", "de", "EUR", "1234.50"],
      ["1.234.567", "fr", "EUR", "1234567"],
      ["1,234,567", "de", "EUR", "1234567"],
      ["0,500", "en", "KWD", "0.500"],
      ["1234.500", "de", "EUR", "1234.500"],
      ["100.00", "ja", "JPY", "100.00"]
    ]))

  it("may be grouped by spaces or apostrophes, and as in India", () =>
    assertRows([
      ["1 234,50", "fr", "EUR", "1234.50"],
      ["1\u00a0234,50", "pl", "PLN", "1234.50"],
      ["1\u202f234\u202f567,5", "fr", "EUR", "1234567.5"],
      ["1\u2009500", "de", "EUR", "1500"],
      ["1'234.50", "de", "CHF", "1234.50"],
      ["1’234", "it", "CHF", "1234"],
      ["1,23,456.50", "en", "INR", "123456.50"],
      ["12,34,56,789", "en", "INR", "123456789"]
    ]))

  it("may have the digits of another script", () =>
    assertRows([
      ["١٢٫٥", "ar", "SAR", "12.5"],
      ["١٬٥٠٠", "ar", "SAR", "1500"],
      ["۱۲٫۵۰۰", "ar", "KWD", "12.500"],
      ["۱٬۵۰۰", "en", "IRR", "1500"],
      ["\u200f١٥٠٠\u200f", "ar", "SAR", "1500"],
      ["１，５００", "ja", "JPY", "1500"],
      ["१,२३,४५६", "en", "INR", "123456"]
    ]))

  it("may have the currency's sign or code beside it", () =>
    assertRows([
      ["1.500,00 €", "de", "EUR", "1500.00"],
      ["$12.50", "en", "USD", "12.50"],
      ["¥1,500", "ja", "JPY", "1500"],
      ["chf 12.50", "de", "CHF", "12.50"],
      ["12 tnd", "fr", "TND", "12"]
    ]))

  it("is none with other characters, wrong groups, or more digits than the currency or an amount has", () => {
    const texts = ["", " ", "a", "-1", "1e5", ".5", "<b>", "1a500", "10²", "1,,5", "1 2", "1.2345,0", "€", "1-500"]
    assertRows(texts.map((typed): Row => [typed, "en", "EUR", undefined]))
    assertRows([
      ["12.345678", "en", "EUR", undefined],
      ["0.125", "en", "EUR", undefined],
      ["1.5", "ja", "JPY", undefined],
      ["1234567890123", "en", "EUR", undefined],
      ["1".repeat(61), "en", "EUR", undefined]
    ])
  })

  it("is read back as a page shows it, in every language", () => {
    for (const language of Object.keys(languages)) {
      const { plainAmount } = formatsOf(language, "UTC")
      for (const currency of ["EUR", "JPY", "COP"]) {
        for (const amount of ["5", "1500", "123456"]) {
          const shown = plainAmount(amount, currency)
          assert.strictEqual(Number(amountOf(shown, language, currency)), Number(amount), `${language} ${shown}`)
        }
      }
    }
  })
})
