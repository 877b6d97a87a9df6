import { assert, describe, it } from "@effect/vitest"
import { type CalendarEvent, calendarAddress, calendarFile } from "../../../src/pages/room/mechanism/CalendarFile.ts"

const at = (text: string) => Date.parse(text)
const event: CalendarEvent = {
  id: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
  revision: 0,
  createdAt: at("2027-01-30T12:00:00.500Z"),
  updatedAt: at("2027-01-30T12:00:00.500Z"),
  startTime: at("2027-02-02T09:00:00Z"),
  endTime: at("2027-02-02T10:00:00Z"),
  isCancelled: false,
  summary: "Spring: Fitting (ABCD2345)"
}

/** The lines of a file, as a calendar reads them. */
const linesOf = (file: string) => file.replaceAll("\r\n ", "").split("\r\n")
const valueOf = (name: string, file: string) =>
  linesOf(file)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1)
const summaryOf = (summary: string) => valueOf("SUMMARY", calendarFile({ ...event, summary }))

describe("A calendar file", () => {
  it("has the booking, in UTC", () => {
    assert.deepStrictEqual(linesOf(calendarFile(event)), [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//Usher//Room//EN",
      "BEGIN:VEVENT",
      "UID:0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
      "SEQUENCE:0",
      "CREATED:20270130T120000Z",
      "DTSTAMP:20270130T120000Z",
      "LAST-MODIFIED:20270130T120000Z",
      "DTSTART:20270202T090000Z",
      "DTEND:20270202T100000Z",
      "STATUS:CONFIRMED",
      "SUMMARY:Spring: Fitting (ABCD2345)",
      "END:VEVENT",
      "END:VCALENDAR",
      ""
    ])
    assert.isTrue(calendarAddress(event).startsWith("data:text/calendar;charset=utf-8,BEGIN%3AVCALENDAR%0D%0A"))
  })

  it("of a booking that was moved or cancelled since replaces the former one", () => {
    const moved = calendarFile({
      ...event,
      revision: 1,
      updatedAt: at("2027-01-30T12:00:03Z"),
      startTime: event.endTime
    })
    const cancelled = calendarFile({ ...event, revision: 2, updatedAt: at("2027-01-31T00:00:00Z"), isCancelled: true })
    for (const [file, sequence, stamp, status] of [
      [moved, "1", "20270130T120003Z", "CONFIRMED"],
      [cancelled, "2", "20270131T000000Z", "CANCELLED"]
    ] as const) {
      assert.deepStrictEqual(
        ["UID", "SEQUENCE", "DTSTAMP", "LAST-MODIFIED", "STATUS"].map((name) => valueOf(name, file)),
        [event.id, sequence, stamp, stamp, status]
      )
    }
  })

  it("folds lines of more than 75 octets, and cuts no character", () => {
    for (const summary of [
      "x".repeat(500),
      "ü".repeat(200),
      "€".repeat(200),
      "👟".repeat(200),
      `a${"👟é".repeat(100)}`,
      "試着".repeat(100),
      "x".repeat(67),
      "x".repeat(66)
    ]) {
      const file = calendarFile({ ...event, summary })
      for (const line of file.split("\r\n")) {
        assert.isAtMost(Buffer.byteLength(line), 75)
        assert.isTrue(line.isWellFormed())
      }
      assert.strictEqual(valueOf("SUMMARY", file), summary)
    }
  })

  it("escapes what has a meaning in the format", () => {
    for (const [name, escaped] of [
      ["a,b;c", "a\\,b\\;c"],
      ["back\\slash", "back\\\\slash"],
      ["two\r\nlines", "two lines"],
      ["tab\tand\u0007bell\u007f", "tab and bell "],
      ['quotes " and : colons', 'quotes " and : colons'],
      ["END:VEVENT\nBEGIN:VALARM", "END:VEVENT BEGIN:VALARM"]
    ] as const) {
      assert.strictEqual(summaryOf(name), escaped)
    }
  })
})
