/**
 * The reference of slots and local time, as plain as possible: it reads the local time of every minute. It shares only
 * the type of the settings with the timetable. Only for zones whose offset from UTC is a whole number of minutes; since
 * 1972 all are.
 */
import type { Configuration } from "../../../src/domain/appointment/Appointment.ts"

const minuteMillis = 60_000
const dayMillis = 86_400_000

/** Returns the local time of a zone, as `2026-03-29 02:30`. */
export const clockOf = (timeZone: string): ((at: number) => string) => {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" })
  return (at) => format.format(at)
}

/** Returns the days, by UTC, in which a zone's clock was changed, each as its beginning. */
export const changesOf = (timeZone: string, from: number, to: number): ReadonlyArray<number> => {
  const clock = clockOf(timeZone)
  const changes: Array<number> = []
  for (let day = from; day < to; day += dayMillis) {
    if (clock(day).slice(11) !== clock(day + dayMillis).slice(11)) changes.push(day)
  }
  return changes
}

/** The local times of one zone for every minute of five days: the day before a day, that day, and three after it. */
export class MinuteByMinute {
  readonly #from: number
  readonly #shown: ReadonlyArray<string>

  constructor(timeZone: string, day: number) {
    const clock = clockOf(timeZone)
    this.#from = day - dayMillis
    this.#shown = Array.from({ length: 5 * 1_440 }, (_, minute) => clock(this.#from + minute * minuteMillis))
  }

  /**
   * Returns the first minute with this local time or a later one. 24:00 is never shown; the next day comes after it.
   */
  first(text: string): number {
    const minute = this.#shown.findIndex((shown) => shown >= text)
    if (minute === -1) throw new Error(`the clock never shows ${text}`)
    return this.#from + minute * minuteMillis
  }

  /** The calendar days that lie completely within the five days. */
  get days(): ReadonlyArray<string> {
    return [...new Set(this.#shown.map((shown) => shown.slice(0, 10)))].slice(1, -1)
  }

  /** Returns the slots that begin on these days, each as its beginning and its end. */
  slots({ hours, slotDurationMinutes, bufferMinutes }: Configuration): ReadonlyArray<readonly [number, number]> {
    return this.days.flatMap((day) =>
      (hours[weekdayOf(day)] ?? []).flatMap(({ from, to }) => {
        const opens = this.first(`${day} ${from}`)
        const closes = this.first(`${day} ${to}`)
        const slots: Array<readonly [number, number]> = []
        for (let minute = opens; minute + slotDurationMinutes * minuteMillis <= closes;) {
          const end = minute + slotDurationMinutes * minuteMillis
          slots.push([minute, end])
          minute = end + bufferMinutes * minuteMillis
        }
        return slots
      })
    )
  }
}

const weekdayOf = (day: string): keyof Configuration["hours"] =>
  new Date(`${day}T12:00Z`).toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" }).toLowerCase() as "monday"
