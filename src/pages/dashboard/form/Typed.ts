/**
 * What a person has typed, as the Admin API takes it. A text that is no number stays text, so that the API says what is
 * wrong with it, and the form says it at the field. Dates are read in a time zone, and may be none.
 */
import { firstAt, readingAt, wallClock, dayMillis } from "../../../domain/values/WallClock.ts"
import { instantOf, type Millis, toText } from "../../../domain/values/Time.ts"

/** Returns the trimmed text; undefined for an empty field. */
export const textIn = (fields: URLSearchParams, name: string): string | undefined =>
  fields.get(name)?.trim() || undefined

/** Returns a number; the text if it is none; undefined for an empty field. */
export const numberIn = (fields: URLSearchParams, name: string): number | string | undefined => {
  const text = textIn(fields, name)
  return text !== undefined && /^-?\d{1,12}$/.test(text) ? Number(text) : text
}

/** Returns the whole seconds of minutes, which may be a fraction, such as 1.5. Another text stays. */
export const minutesIn = (fields: URLSearchParams, name: string): number | string | undefined => {
  const text = textIn(fields, name)
  if (text === undefined || !/^\d{1,9}(?:[.,]\d{1,4})?$/.test(text)) return text
  return Math.round(Number(text.replace(",", ".")) * 60)
}

/** What is wrong with a text that is no number of minutes. */
export const noMinutes = "Enter minutes, such as 10 or 1.5."

/** Returns seconds as the minutes of a field: a fraction has as many digits as `minutesIn` needs. */
export const minutesOf = (seconds: number): string => `${Number((seconds / 60).toFixed(3))}`

/** The choice of a span's unit, in minutes. */
export const units = [
  ["1", "minutes"],
  ["60", "hours"],
  ["1440", "days"]
] as const

/** A typed date and time, or what is wrong with it. */
export type TypedInstant = { readonly at: Millis } | { readonly problem: string }

/** Returns the instant at which the clocks of a zone show `YYYY-MM-DDTHH:MM`. Of two such instants it is the first. */
export const instantIn = (text: string, timeZone: string): TypedInstant => {
  const reading = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/.test(text) ? instantOf(`${text}Z`) : undefined
  if (reading === undefined) return { problem: "Enter a date and a time." }
  const clock = wallClock(timeZone, reading - 2 * dayMillis, reading + 2 * dayMillis)
  const at = firstAt(clock, reading)
  return readingAt(clock, at) === reading
    ? { at }
    : { problem: `Clocks in ${timeZone} skip this time on that day, when they are put forward.` }
}

/** Returns the instant at which a day `YYYY-MM-DD`, or a day after it, begins in a zone; undefined for another text. */
export const dayIn = (text: string, later: number, timeZone: string): Millis | undefined => {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? instantOf(`${text}T00:00Z`) : undefined
  if (day === undefined) return undefined
  const reading = day + later * dayMillis
  return firstAt(wallClock(timeZone, reading - 2 * dayMillis, reading + 2 * dayMillis), reading)
}

/** Returns what the clocks of a zone show at an instant, for a field with date and time. */
export const typedAt = (at: Millis, timeZone: string): string =>
  toText(readingAt(wallClock(timeZone, at - dayMillis, at + dayMillis), at)).slice(0, 16)

/** The time zones of a select, with one that is not among them. */
export const timeZones = (chosen: string): ReadonlyArray<readonly [string, string]> =>
  [...new Set([chosen, "UTC", ...Intl.supportedValuesOf("timeZone")])].map((zone) => [zone, zone.replaceAll("_", " ")])
