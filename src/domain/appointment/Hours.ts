/** Opening hours: the openings of each day of the week, in local time. */
import { Schema } from "effect"

/** The maximum of openings on one day. */
export const openingsMax = 24

const localTime = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern, { expected, representation: { id: "usher/date_time", payload: null } }))

/** From one time of the day to a later one. The end of the day is `24:00`. */
const Opening = Schema.Struct({
  from: localTime(/^([01]\d|2[0-3]):[0-5]\d$/, "a time of the day: HH:MM").annotate({ examples: ["09:00"] }),
  to: localTime(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, "a time of the day: HH:MM, or 24:00").annotate({
    examples: ["17:00"]
  })
}).annotate({ identifier: "Opening" })
type Opening = typeof Opening.Type

const openings = Schema.optionalKey(Schema.Array(Opening).check(Schema.isMaxLength(openingsMax)))

/** Local times by day of the week. An absent day has no openings. */
export const Hours = Schema.Struct({
  monday: openings,
  tuesday: openings,
  wednesday: openings,
  thursday: openings,
  friday: openings,
  saturday: openings,
  sunday: openings
}).annotate({ identifier: "Hours" })
export type Hours = typeof Hours.Type

/** 09:00 to 17:00, Monday to Friday. */
export const defaultHours: Hours = Object.fromEntries(
  ["monday", "tuesday", "wednesday", "thursday", "friday"].map((weekday) => [weekday, [{ from: "09:00", to: "17:00" }]])
)

/** An opening in minutes after midnight. */
export interface OpenMinutes {
  readonly from: number
  readonly to: number
}

/** The days of the week, starting with 1 January 1970, a Thursday. */
const weekdays = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"] as const

/** Returns the openings of each day of the week, sorted. The week begins on Thursday. */
export const weekOf = (hours: Hours): ReadonlyArray<ReadonlyArray<OpenMinutes>> =>
  weekdays.map((weekday) => (hours[weekday] ?? []).map(inMinutes).toSorted((a, b) => a.from - b.from))

/** Returns what is wrong with the hours for slots of this length; undefined if they are valid. */
export const hoursProblem = (hours: Hours, slotDurationMinutes: number): string | undefined => {
  const week = weekOf(hours)
  if (week.flat().some(({ from, to }) => to <= from)) return "an opening must end after it begins, on the same day"
  if (week.some((day) => day.some(({ from }, index) => index > 0 && from < day[index - 1]!.to))) {
    return "openings of one day must not overlap"
  }
  const isLongEnough = week.flat().some(({ from, to }) => to - from >= slotDurationMinutes)
  return isLongEnough ? undefined : "no opening is long enough for a slot"
}

const inMinutes = ({ from, to }: Opening): OpenMinutes => ({ from: minutesOf(from), to: minutesOf(to) })

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
