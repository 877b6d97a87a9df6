/** The page and the text of a rehearsal's report. */
import { assert, describe, it } from "@effect/vitest"
import { pageOf } from "../../../src/cli/rehearse/Page.ts"
import { duration, readable, type Report } from "../../../src/cli/rehearse/Report.ts"
import { defaultCrowd } from "../../../src/domain/rehearsal/Crowd.ts"
import { outcomeOf } from "../../../src/domain/rehearsal/Outcome.ts"
import { line } from "../../domain/rehearsal/rightDrop.ts"

const at = Date.parse("2033-06-01T16:00:00Z")
const named = { ...line, settings: { ...line.settings, name: "<b>Line</b>" } }
const report: Report = {
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
  findings: [{ code: "NO_WEBHOOK", severity: "warning", message: "No webhook reports orders." }]
}

describe("The report of a rehearsal", () => {
  it("is one page without scripts and addresses, in the drop's time, and takes texts as texts", () => {
    const page = pageOf(report)
    for (const part of [
      "Everybody who should get something got it.",
      "Wednesday, 2033-06-01 17:00 (Europe/Berlin)",
      "1,234 entries",
      "&lt;b&gt;Line&lt;/b&gt;",
      "Dear &lt;you&gt;",
      "90 s, 90 s, 90 s",
      "refused: SOLD_OUT 3",
      "No webhook reports orders.",
      "prefers-color-scheme: dark",
      "@media print"
    ]) {
      assert.include(page, part)
    }
    assert.notMatch(page, /<script|<link|https?:|<b>Line/)
  })

  it("says how many got nothing", () => {
    const other = { ...report, unserved: 1_500 }
    for (const text of [pageOf(other), readable(other)]) {
      assert.include(text, "1,500 people should have got something and did not.")
    }
    assert.include(readable({ ...report, mechanisms: [outcomeOf(line, [])] }), "Nobody took part.")
  })

  it("has durations in words", () => {
    assert.deepStrictEqual([90, 700, 9_000, 604_800].map(duration), ["90 s", "12 min", "3 h", "7 days"])
  })
})
