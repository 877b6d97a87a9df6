import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { CalendarDay, dayMillis, dayOf, firstAt, readingAt, wallClock } from "../../../src/domain/values/WallClock.ts"

const instant = (text: string): number => Date.parse(text)
/** The reading of a clock, written like UTC. */
const reading = (text: string): number => Date.parse(`${text}Z`)

const year = (zone: string) => wallClock(zone, instant("2026-01-01T00:00Z"), instant("2027-01-01T00:00Z"))
const firstIn = (zone: string, text: string): string => new Date(firstAt(year(zone), reading(text))).toISOString()

describe("the clock on a wall", () => {
  it("shows local time, summer and winter", () => {
    const berlin = year("Europe/Berlin")
    assert.strictEqual(readingAt(berlin, instant("2026-01-15T11:00Z")), reading("2026-01-15T12:00"))
    assert.strictEqual(readingAt(berlin, instant("2026-07-15T10:00Z")), reading("2026-07-15T12:00"))
    assert.strictEqual(firstIn("Europe/Berlin", "2026-01-15T12:00"), "2026-01-15T11:00:00.000Z")
    assert.strictEqual(firstIn("Europe/Berlin", "2026-07-15T12:00"), "2026-07-15T10:00:00.000Z")
  })

  it("shows a reading that it skips, when it skips it", () => {
    for (const skipped of ["02:00", "02:30", "02:59", "03:00"]) {
      assert.strictEqual(firstIn("Europe/Berlin", `2026-03-29T${skipped}`), "2026-03-29T01:00:00.000Z", skipped)
    }
    assert.strictEqual(firstIn("Europe/Berlin", "2026-03-29T01:59"), "2026-03-29T00:59:00.000Z")
    assert.strictEqual(firstIn("Europe/Berlin", "2026-03-29T03:01"), "2026-03-29T01:01:00.000Z")
  })

  it("shows a reading that it shows twice, first the first time", () => {
    assert.strictEqual(firstIn("Europe/Berlin", "2026-10-25T02:00"), "2026-10-25T00:00:00.000Z")
    assert.strictEqual(firstIn("Europe/Berlin", "2026-10-25T02:59"), "2026-10-25T00:59:00.000Z")
    assert.strictEqual(firstIn("Europe/Berlin", "2026-10-25T03:00"), "2026-10-25T02:00:00.000Z")
  })

  it("keeps days of 23, 24 and 25 hours, and of 23 and a half where it is put by half an hour", () => {
    const hours = (zone: string, day: string) => {
      const clock = year(zone)
      const midnight = reading(`${day}T00:00`)
      return (firstAt(clock, midnight + dayMillis) - firstAt(clock, midnight)) / 3_600_000
    }
    assert.deepStrictEqual(
      [
        hours("Europe/Berlin", "2026-03-29"),
        hours("Europe/Berlin", "2026-03-30"),
        hours("Europe/Berlin", "2026-10-25"),
        hours("Australia/Lord_Howe", "2026-10-04"),
        hours("Australia/Lord_Howe", "2026-04-05")
      ],
      [23, 24, 25, 23.5, 24.5]
    )
  })

  it("begins a day that has no midnight when the clock skips it", () => {
    assert.strictEqual(firstIn("Africa/Cairo", "2026-04-24T00:00"), "2026-04-23T22:00:00.000Z")
    assert.strictEqual(readingAt(year("Africa/Cairo"), instant("2026-04-23T22:00Z")), reading("2026-04-24T01:00"))
  })

  it("has a day that a whole country skipped begin and end at one instant", () => {
    const apia = wallClock("Pacific/Apia", instant("2011-12-25T00:00Z"), instant("2012-01-05T00:00Z"))
    assert.strictEqual(firstAt(apia, reading("2011-12-30T00:00")), instant("2011-12-30T10:00Z"))
    assert.strictEqual(firstAt(apia, reading("2011-12-31T00:00")), instant("2011-12-30T10:00Z"))
  })

  it("is UTC's in an unknown zone", () => {
    assert.strictEqual(readingAt(year("Mars/Olympus_Mons"), 1_000), 1_000)
  })

  it("finds two changes that lie a week apart", () => {
    const clock = wallClock("America/Boa_Vista", instant("2000-09-01T00:00Z"), instant("2000-12-01T00:00Z"))
    const ahead = (text: string) => (readingAt(clock, instant(text)) - instant(text)) / 3_600_000
    assert.deepStrictEqual(
      [ahead("2000-10-01T00:00Z"), ahead("2000-10-12T00:00Z"), ahead("2000-10-20T00:00Z")],
      [-4, -3, -4]
    )
  })

  it.prop(
    "shows what Intl says it shows, and an earlier instant for no later reading",
    {
      minute: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 525_599 }))),
      later: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3_000 }))),
      zone: Arbitrary.schema(
        Schema.Literals(["America/St_Johns", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Chatham"])
      )
    },
    ({ minute, later, zone }) => {
      const clock = year(zone)
      const at = instant("2026-01-01T00:00Z") + minute * 60_000
      const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" })
      const shown = readingAt(clock, at)
      assert.strictEqual(new Date(shown).toISOString().slice(0, 16).replace("T", " "), format.format(at))
      assert.isAtMost(firstAt(clock, shown), at)
      assert.isAtLeast(firstAt(clock, shown + later * 60_000), firstAt(clock, shown))
    },
    { arbitrary: { runs: 300 } }
  )
})

describe("a day of the calendar", () => {
  const decode = Schema.decodeUnknownSync(CalendarDay)

  it("is the reading at its beginning, and goes out as it came in", () => {
    assert.strictEqual(decode("2026-11-21"), reading("2026-11-21T00:00"))
    assert.strictEqual(Schema.encodeSync(CalendarDay)(reading("2026-11-21T00:00")), "2026-11-21")
    assert.strictEqual(dayOf(reading("2026-11-21T23:59")), decode("2026-11-21"))
  })

  it("is refused if it is no day", () => {
    for (const text of [
      "2026-02-30",
      "2026-13-01",
      "2026-11-00",
      "2026-1-1",
      "1969-12-31",
      "2026-11-21T00:00Z",
      "today",
      ""
    ]) {
      assert.throws(() => decode(text), /a day of the calendar/, text)
    }
  })
})
