import { assert, describe, it } from "@effect/vitest"
import { formatsOf } from "../../src/pages/Formats.ts"
import { filled, type Language, languages, wordsIn } from "../../src/pages/Words.ts"

const all = Object.keys(languages) as ReadonlyArray<Language>
const minute = 60_000

/** Times that a clock shows twice: the first instant, and the minutes until the second one. */
const nights = [
  ["Europe/Berlin", "2027-10-31T00:00Z", 60],
  ["America/New_York", "2027-11-07T05:30Z", 60],
  ["America/St_Johns", "2027-11-07T04:00Z", 60],
  ["Australia/Lord_Howe", "2027-04-03T14:30Z", 30],
  ["Africa/Cairo", "2027-10-28T20:00Z", 60],
  ["Antarctica/Troll", "2027-10-31T00:00Z", 120],
  ["Pacific/Chatham", "2027-04-03T14:00Z", 60]
] as const

describe("An amount", () => {
  it("keeps the letters and the sign of its currency together among letters from right to left", () => {
    for (const language of ["ar", "he"]) {
      for (const currency of ["USD", "CAD", "EUR", "CHF", "ILS"]) {
        const shown = formatsOf(language, "UTC").amount("20", currency)
        const isolated = [...shown.matchAll(/\u2068([^\u2069]*)\u2069/g)].map(([, sign]) => sign!)
        const sign = /[\p{Script=Latin}$]*\p{Script=Latin}[\p{Script=Latin}$]*/u.exec(shown)?.[0]
        assert.deepStrictEqual(isolated, sign === undefined ? [] : [sign], `${language} ${currency}: ${shown}`)
        // It stays so within a sentence.
        const within = filled(wordsIn(language as Language).confirmBid, { amount: shown })
        if (sign !== undefined) assert.include(within, `\u2068${sign}\u2069`)
      }
    }
    assert.match(formatsOf("ar", "UTC").amount("20", "USD"), /\u2068US\$\u2069/)
    assert.strictEqual(formatsOf("en", "UTC").amount("20", "CAD"), "CA$20.00")
  })
})

describe("A local time", () => {
  it("that its clock shows twice has its offset, in every language", () => {
    for (const [zone, first, minutes] of nights) {
      const [one, other] = [Date.parse(first), Date.parse(first) + minutes * minute]
      for (const language of all) {
        const formats = formatsOf(language, zone)
        for (const name of ["time", "instant", "short"] as const) {
          const shown = formats[name](one)
          assert.notStrictEqual(shown, formats[name](other), `${language} ${zone}: ${shown}`)
          assert.strictEqual(shown, formatsOf(language, "UTC")[name](one, zone))
        }
        assert.match(`${formats.time(one)} ${formats.instant(other)}`, /[+-]\d|GMT|UTC|[٠-٩]/u, `${language} ${zone}`)
      }
    }
  })

  it("of the other 24 hours of that day has none, nor in the night in which the clock is put forward", () => {
    const { time } = formatsOf("en", "Europe/Berlin")
    const labels = (from: string, to: string) => {
      const shown: Array<string> = []
      for (let at = Date.parse(from); at < Date.parse(to); at += 30 * minute) shown.push(time(at))
      return shown
    }
    const autumn = labels("2027-10-30T22:00Z", "2027-10-31T23:00Z")
    assert.strictEqual(new Set(autumn).size, autumn.length)
    assert.deepStrictEqual(
      autumn.filter((label) => label.includes("GMT")),
      ["2:00 AM GMT+2", "2:30 AM GMT+2", "2:00 AM GMT+1", "2:30 AM GMT+1"]
    )
    const spring = labels("2027-03-27T23:00Z", "2027-03-28T22:00Z")
    assert.strictEqual(new Set(spring).size, spring.length)
    assert.isFalse(spring.some((label) => label.includes("GMT")))
  })

  it("of a zone with another date line, without changes, or unknown, has none", () => {
    for (const zone of ["UTC", "Asia/Tokyo", "Pacific/Kiritimati", "Asia/Kathmandu", "Nowhere/Else"]) {
      for (let hour = 0; hour < 48; hour++) {
        assert.match(
          formatsOf("en", zone).time(Date.parse("2027-10-30T12:00Z") + hour * 60 * minute),
          /^\d+:\d\d [AP]M$/
        )
      }
    }
  })
})
