/** Compares the timetable with {@link MinuteByMinute} on the days around a change of a clock. */
import type { Configuration } from "../../../src/domain/appointment/Appointment.ts"
import { slotAt, slotsBetween, timetableOf } from "../../../src/domain/appointment/Timetable.ts"
import { MinuteByMinute } from "./MinuteByMinute.ts"

type Openings = ReadonlyArray<readonly [from: string, to: string]>

/** Returns hours with the same openings every day. */
export const daily = (openings: Openings): Configuration["hours"] => {
  const day = openings.map(([from, to]) => ({ from, to }))
  return { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day, saturday: day, sunday: day }
}

/** Openings round the clock, in the small hours when clocks change, and over several kinds of boundaries. */
const timetables: ReadonlyArray<readonly [minutes: number, buffer: number, openings: Openings]> = [
  [30, 0, [["00:00", "24:00"]]],
  [20, 5, [["02:00", "05:00"]]],
  [
    7,
    0,
    [
      ["01:30", "02:30"],
      ["02:30", "03:10"]
    ]
  ],
  [
    45,
    15,
    [
      ["00:00", "01:15"],
      ["01:15", "04:00"],
      ["22:30", "24:00"]
    ]
  ],
  [
    10,
    3,
    [
      ["00:30", "00:45"],
      ["02:10", "02:40"],
      ["23:15", "23:50"]
    ]
  ]
]

/** The number of compared slots, and the slots that differ from the reference. */
export interface Comparison {
  readonly compared: number
  readonly failures: ReadonlyArray<string>
}

/** Compares the slots of the days around `day`, on one of which the zone's clock is changed. */
export const compareAround = (timeZone: string, day: number): Comparison => {
  const looked = new MinuteByMinute(timeZone, day)
  const [first, last] = [looked.days[0]!, looked.days.at(-1)!]
  const failures: Array<string> = []
  let compared = 0
  for (const [slotDurationMinutes, bufferMinutes, openings] of timetables) {
    const settings: Configuration = {
      name: "Fitting",
      timeZone,
      slotsFrom: looked.first(`${first} 00:00`),
      slotsUntil: looked.first(`${last} 24:00`),
      hours: daily(openings),
      slotDurationMinutes,
      bufferMinutes,
      maxCapacityPerSlot: 1
    }
    const expected = looked.slots(settings)
    const timetable = timetableOf(settings)
    const slots = [...slotsBetween(timetable, settings.slotsFrom, settings.slotsUntil)]
    compared += expected.length
    const isSame =
      slots.length === expected.length &&
      slots.every(({ startTime, endTime }, index) => {
        const [start, end] = expected[index]!
        return (
          startTime === start &&
          endTime === end &&
          slotAt(timetable, startTime)?.endTime === end &&
          slotAt(timetable, startTime + 60_000)?.endTime !== end
        )
      })
    if (!isSame)
      failures.push(
        `${timeZone} around ${first}, ${JSON.stringify(openings)}: ${slots.length} slots, not ${expected.length}`
      )
  }
  return { compared, failures }
}
