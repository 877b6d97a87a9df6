/** The page and the text of a rehearsal's report. */
import { assert, describe, it } from "@effect/vitest"
import { contentOf, pageOf } from "../../../src/load/rehearsal/Page.ts"
import { FoundRecord } from "../../../src/domain/rehearsal/Finding.ts"
import { duration, placeOf, readable, type Report, summaryOf, verdictOf } from "../../../src/load/rehearsal/Report.ts"
import { defaultCrowd } from "../../../src/domain/rehearsal/Crowd.ts"
import { type MechanismOutcome, outcomeOf } from "../../../src/domain/rehearsal/Outcome.ts"
import { line } from "../../domain/rehearsal/rightDrop.ts"

const at = Date.parse("2033-06-01T16:00:00Z")
const named = { ...line, settings: { ...line.settings, name: "<b>Line</b>" } }
const played: Omit<Report, "verdict"> = {
  experienceId: "1",
  copyId: "2",
  name: "Coats & more",
  timeZone: "Europe/Berlin",
  seed: 7,
  crowd: defaultCrowd,
  from: "2033-06-01T15:00:00.000Z",
  to: "2033-06-02T15:00:00.000Z",
  seconds: 12,
  unserved: 0,
  mechanisms: [
    outcomeOf(
      named,
      [
        { type: "Entered", at, consumerId: "ann", data: {} },
        { type: "Granted", at: at + 90_000, consumerId: "ann", data: {} }
      ],
      new Map([["SOLD_OUT", 3]])
    )
  ],
  busiest: { at, entries: 1_234, reads: 5, sessions: 6 },
  messages: [{ channel: "email", subject: "You won", count: 3, text: "Dear <you>" }],
  findings: [
    {
      code: "NO_WEBHOOK",
      severity: "warning",
      message: "No webhook reports orders.",
      record: "webhook",
      recordId: null,
      field: "events"
    }
  ]
}
const reportOf = (changes: Partial<Report> = {}): Report => {
  const { unserved, mechanisms } = { ...played, ...changes }
  return { ...played, verdict: verdictOf({ unserved, mechanisms }), ...changes }
}
const report = reportOf()

describe("The report of a rehearsal", () => {
  it("is one page without scripts and addresses, in the drop's time, and takes texts as texts", () => {
    const page = pageOf(report)
    for (const part of [
      "0 of 200 units were sold, although 1 person more came for one.",
      "from Wednesday, 2033-06-01 17:00 to Thursday, 2033-06-02 17:00 (Europe/Berlin)",
      "1,234 entries, 5 status reads, 6 new sessions: 0.06 of a core",
      "<code>usher load</code> measures yours",
      "&lt;b&gt;Line&lt;/b&gt;",
      "Dear &lt;you&gt;",
      "90 s, 90 s, 90 s",
      "3 refused: nothing was left",
      "No webhook reports orders. <small>Change it in Webhooks.</small>",
      "1 warning.",
      "prefers-color-scheme: dark",
      "@media print"
    ]) {
      assert.include(page, part)
    }
    assert.notMatch(page, /<script|<link|https?:|<b>Line/)
  })

  it("begins with the outcome and what is wrong, and says so if nothing is", () => {
    const page = pageOf(report)
    const order = ["0 of 200 units", "1 warning.", "No webhook reports", "1 person came;", "By mechanism"]
    const places = order.map((words) => page.indexOf(words))
    assert.deepStrictEqual(
      places,
      places.toSorted((a, b) => a - b)
    )
    const right = pageOf({ ...report, findings: [] })
    assert.include(right, "Nothing looks wrong.")
    assert.notInclude(right, "What looks wrong")
  })

  it("says of a mechanism what was bought, when it was gone, and how long people waited", () => {
    const one = { ...outcomeOf(line, []), people: 25, units: 1, used: 1, soldOutAt: at, lapsed: 3, gaveUp: 4 }
    const waited = { ...one, waitSeconds: { median: 16, p95: 400, longest: 700 } }
    assert.strictEqual(
      summaryOf(waited, "Europe/Berlin"),
      "25 people came; 1 of 1 unit was bought; sold out on Wednesday, 2033-06-01 18:00; half waited 16 s at most, the longest 12 min; 3 turns ran out unused; 4 gave up."
    )
    const booked = { ...one, kind: "appointment", units: null, soldOutAt: null, served: 20, gaveUp: 0 } as const
    assert.strictEqual(summaryOf(booked, "UTC"), "25 people came; 20 booked; 3 did not come.")
    assert.strictEqual(summaryOf(outcomeOf(line, []), "UTC"), "Nobody took part.")
  })

  it("names the part of the dashboard in which each record is mended", () => {
    const places = FoundRecord.literals.map((record) => placeOf({ record, field: null }))
    assert.strictEqual(new Set(places).size, 5)
    assert.strictEqual(placeOf({ record: "experience", field: "i18n" }), "the drop’s Look")
    assert.strictEqual(placeOf({ record: "distribution", field: "stockId" }), "the stock")
  })

  it("is content if what was for sale is sold, but for a few units whose buyers never pay", () => {
    const one = { ...outcomeOf(line, []), people: 300, units: 200, used: 200 }
    const verdict = (...mechanisms: ReadonlyArray<MechanismOutcome>) => verdictOf({ unserved: 0, mechanisms })
    assert.deepStrictEqual(verdict(one), { text: "All 200 units were sold.", isGood: true })
    assert.deepStrictEqual(verdict({ ...one, used: 190 }), {
      text: "190 of 200 units were sold.",
      isGood: true
    })
    assert.isFalse(verdict({ ...one, used: 40 }).isGood)
    const few = { ...one, people: 40, used: 40 }
    assert.deepStrictEqual(verdict(few), {
      text: "40 of 200 units were sold, one to each person who came.",
      isGood: true
    })
    const stock = { ...one, units: null, unitsLeft: 160, used: 20 }
    assert.include(verdict(stock, stock).text, "40 of 200 units")
    assert.include(verdict({ ...one, units: null }).text, "Everybody who should get something got it.")
  })

  it("leads to where each finding is mended, where it is shown in the dashboard", () => {
    const content = contentOf(report, ({ record }) => `/dashboard/${record}s?a&b`)
    assert.include(content, 'Change it in <a href="/dashboard/webhooks?a&amp;b">Webhooks</a>.')
  })

  it("says how many got nothing", () => {
    const other = reportOf({ unserved: 1_500 })
    for (const text of [pageOf(other), readable(other)]) {
      assert.include(text, "1,500 people should have got something and did not.")
    }
    assert.include(readable(reportOf({ mechanisms: [outcomeOf(line, [])] })), "Nobody took part.")
  })

  it("has durations in words", () => {
    assert.deepStrictEqual([90, 700, 9_000, 604_800].map(duration), ["90 s", "12 min", "3 h", "7 days"])
  })
})
