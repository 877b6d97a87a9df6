import { assert, describe, it } from "@effect/vitest"
import { type Configuration, configurationProblems } from "../../../src/domain/appointment/Configuration.ts"
import { slotAt, slotsBetween, slotsOverlapping, timetableOf } from "../../../src/domain/appointment/Timetable.ts"
import { at, configuration } from "./history.ts"
import { changesOf } from "./MinuteByMinute.ts"
import { compareAround, daily } from "./zoneProof.ts"

const instant = (text: string): number => Date.parse(text)

/** Returns settings with an opening on every day in Berlin, and slots of an hour. */
const inBerlin = (from: string, to: string, settings: Partial<Configuration> = {}): Configuration =>
  configuration({
    timeZone: "Europe/Berlin",
    hours: daily([[from, to]]),
    slotDurationMinutes: 60,
    slotsFrom: instant("2026-01-01T00:00Z"),
    slotsUntil: instant("2027-01-01T00:00Z"),
    ...settings
  })

/** Returns when the slots of a day begin, in Berlin's local time. */
const begins = (settings: Configuration, day: string): ReadonlyArray<string> => {
  const noon = instant(`${day}T12:00Z`)
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "short" })
  return [...slotsBetween(timetableOf(settings), noon - 86_400_000, noon + 86_400_000)]
    .map(({ startTime }) => format.format(startTime))
    .filter((text) => text.startsWith(day))
    .map((text) => text.slice(11))
}

describe("the slots of a day", () => {
  it("fill the opening, and the last ends within it", () => {
    assert.deepStrictEqual(begins(inBerlin("09:00", "12:30"), "2026-06-01"), ["09:00", "10:00", "11:00"])
    assert.deepStrictEqual(begins(inBerlin("09:00", "09:59"), "2026-06-01"), [])
  })

  it("have a buffer between them, but need none at the end", () => {
    const settings = inBerlin("09:00", "11:15", { bufferMinutes: 15 })
    assert.deepStrictEqual(begins(settings, "2026-06-01"), ["09:00", "10:15"])
  })

  it("start again with each opening, in any order of the hours", () => {
    const settings = inBerlin("", "", {
      hours: daily([
        ["14:30", "16:30"],
        ["09:00", "11:00"]
      ])
    })
    assert.deepStrictEqual(begins(settings, "2026-06-01"), ["09:00", "10:00", "14:30", "15:30"])
  })

  it("reach the end of the day, and begin the next one with it", () => {
    const settings = inBerlin("", "", {
      hours: daily([
        ["00:00", "02:00"],
        ["22:00", "24:00"]
      ])
    })
    assert.deepStrictEqual(begins(settings, "2026-06-01"), ["00:00", "01:00", "22:00", "23:00"])
  })

  it("are one less when the clock is put forward, and one more when it is put back", () => {
    assert.deepStrictEqual(begins(inBerlin("02:00", "05:00"), "2026-03-28"), ["02:00", "03:00", "04:00"])
    assert.deepStrictEqual(begins(inBerlin("02:00", "05:00"), "2026-03-29"), ["03:00", "04:00"])
    assert.deepStrictEqual(begins(inBerlin("02:00", "05:00"), "2026-10-25"), ["02:00", "02:00", "03:00", "04:00"])
    assert.lengthOf(begins(inBerlin("00:00", "24:00"), "2026-03-29"), 23)
    assert.lengthOf(begins(inBerlin("00:00", "24:00"), "2026-10-25"), 25)
  })

  it("begin when the clock skips the opening's beginning, and are none in an opening that it skips completely", () => {
    assert.deepStrictEqual(begins(inBerlin("02:30", "05:00"), "2026-03-29"), ["03:00", "04:00"])
    assert.deepStrictEqual(begins(inBerlin("02:00", "03:00"), "2026-03-29"), [])
  })

  it("begin the first time in an hour that comes twice, and end when the clock first shows the closing", () => {
    const settings = { slotDurationMinutes: 30 }
    assert.deepStrictEqual(begins(inBerlin("02:00", "02:30", settings), "2026-10-25"), ["02:00"])
    assert.deepStrictEqual(begins(inBerlin("02:30", "03:30", settings), "2026-10-25"), [
      "02:30",
      "02:00",
      "02:30",
      "03:00"
    ])
  })

  it("lie completely between slotsFrom and slotsUntil", () => {
    const settings = inBerlin("09:00", "17:00", {
      slotsFrom: instant("2026-06-01T08:00:00.001Z"),
      slotsUntil: instant("2026-06-01T11:59Z")
    })
    assert.deepStrictEqual(begins(settings, "2026-06-01"), ["11:00", "12:00"])
  })

  it("are on the days of the week that have hours", () => {
    const settings = inBerlin("", "", { hours: { sunday: [{ from: "10:00", to: "11:00" }] } })
    const slots = [...slotsBetween(timetableOf(settings), 0, Infinity)]
    assert.lengthOf(slots, 52)
    for (const { startTime } of slots) assert.strictEqual(new Date(startTime).getUTCDay(), 0)
  })
})

describe("a slot", () => {
  it("is found by its beginning alone, years away, and no slot is found next to it", () => {
    const settings = inBerlin("09:00", "17:00", {
      slotsUntil: instant("2034-01-01T00:00Z"),
      slotDurationMinutes: 20,
      bufferMinutes: 10
    })
    const timetable = timetableOf(settings)
    const startTime = instant("2033-07-01T12:30Z")
    assert.deepStrictEqual(slotAt(timetable, startTime), { startTime, endTime: startTime + 1_200_000 })
    for (const beside of [1, -1, 600_000, 1_200_000]) assert.isUndefined(slotAt(timetable, startTime + beside))
  })

  it("overlaps those that share an instant with it, and no neighbours", () => {
    const timetable = timetableOf(configuration({}))
    const overlapping = (from: number, to: number) =>
      [...slotsOverlapping(timetable, { startTime: at(from), endTime: at(to) })].map(({ startTime }) => startTime)
    assert.deepStrictEqual(overlapping(90, 120), [at(90)])
    assert.deepStrictEqual(overlapping(89, 121), [at(60), at(90), at(120)])
    assert.deepStrictEqual(overlapping(0, 60), [])
  })

  it("is the same whatever query finds it", () => {
    const settings = inBerlin("00:00", "24:00", { slotDurationMinutes: 35, bufferMinutes: 7 })
    const timetable = timetableOf(settings)
    const all = [...slotsBetween(timetable, 0, Infinity)]
    for (let index = 0; index < all.length; index += 97) {
      assert.deepStrictEqual(slotAt(timetable, all[index]!.startTime), all[index])
      const next = all.slice(index, index + 9)
      assert.deepStrictEqual([...slotsBetween(timetable, next[0]!.startTime, next.at(-1)!.startTime + 1)], next)
    }
    assert.isAbove(all.length, 10_000)
  })
})

describe("the slots around clock changes", () => {
  it("are found if they begin after midnight while the clock shows the previous day again", () => {
    // On 7 November 2010 the clocks of Newfoundland were put back from 00:01 to 23:01 of the day before.
    const settings = inBerlin("00:00", "24:00", {
      timeZone: "America/St_Johns",
      slotsFrom: instant("2010-11-01T00:00Z"),
      slotsUntil: instant("2010-12-01T00:00Z")
    })
    const midnight = instant("2010-11-07T02:30Z")
    const startTimes = [...slotsBetween(timetableOf(settings), midnight, midnight + 4 * 3_600_000)].map(
      ({ startTime }) => (startTime - midnight) / 3_600_000
    )
    assert.deepStrictEqual(startTimes, [0, 1, 2, 3])
    for (const hours of startTimes) assert.isDefined(slotAt(timetableOf(settings), midnight + hours * 3_600_000))
    assert.deepStrictEqual(compareAround("America/St_Johns", instant("2010-11-07T00:00Z")).failures, [])
  })

  it("are the slots of a reference that reads the clock every minute", () => {
    const step = 4
    let seen = 0
    let compared = 0
    const failures: Array<string> = []
    for (const [index, zone] of Intl.supportedValuesOf("timeZone").entries()) {
      const year = 2020 + (index % 16)
      for (const day of changesOf(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))) {
        if (seen++ % step !== 0) continue
        const comparison = compareAround(zone, day)
        compared += comparison.compared
        failures.push(...comparison.failures)
      }
    }
    assert.isAbove(compared, 1_000)
    assert.deepStrictEqual(failures, [])
  })
})

describe("settings that are not valid", () => {
  const problems = (settings: Partial<Configuration>) =>
    configurationProblems(configuration(settings)).map(({ field, message }) => `${field}: ${message}`)

  it("do not include the usual ones", () => {
    assert.deepStrictEqual(problems({}), [])
    assert.deepStrictEqual(problems({ openAt: at(1), closeAt: at(2) }), [])
    assert.deepStrictEqual(
      problems({
        hours: daily([
          ["12:00", "24:00"],
          ["00:00", "12:00"]
        ])
      }),
      []
    )
  })

  it("include a closing that is not after the opening", () => {
    assert.deepStrictEqual(problems({ openAt: at(1), closeAt: at(1) }), ["closeAt: closeAt must be after openAt"])
  })

  it("include days that end before they begin, or are more than ten years", () => {
    const slotsFrom = at(0)
    assert.deepStrictEqual(problems({ slotsFrom, slotsUntil: slotsFrom }), [
      "slotsUntil: slotsUntil must be after slotsFrom"
    ])
    const tenYears = slotsFrom + 3_660 * 86_400_000
    assert.deepStrictEqual(problems({ slotsFrom, slotsUntil: tenYears }), [])
    assert.deepStrictEqual(problems({ slotsFrom, slotsUntil: tenYears + 1 }), [
      "slotsUntil: slotsUntil must be at most 3660 days after slotsFrom"
    ])
  })

  it("include openings that are reversed or empty, overlap, or hold no slot", () => {
    const reversed = ["hours: an opening must end after it begins, on the same day"]
    assert.deepStrictEqual(problems({ hours: daily([["22:00", "02:00"]]) }), reversed)
    assert.deepStrictEqual(problems({ hours: daily([["09:00", "09:00"]]) }), reversed)
    const overlap = ["hours: openings of one day must not overlap"]
    assert.deepStrictEqual(
      problems({
        hours: daily([
          ["13:00", "17:00"],
          ["09:00", "13:01"]
        ])
      }),
      overlap
    )
    const short = ["hours: no opening is long enough for a slot"]
    assert.deepStrictEqual(problems({ hours: {} }), short)
    assert.deepStrictEqual(problems({ hours: daily([["09:00", "09:29"]]) }), short)
  })
})
