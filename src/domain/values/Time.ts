/**
 * Instants. Inside the domain an instant is a number of milliseconds since the Unix epoch, so that rules are plain
 * arithmetic. Outside it is ISO 8601 text: with any offset in requests, and in UTC with milliseconds and `Z` in
 * responses.
 */
import { Schema, SchemaTransformation } from "effect"

/** Milliseconds since the Unix epoch. */
export type Millis = number

/** The last instant that can be written as text: years have four digits. */
export const latest: Millis = 253_402_300_799_999

/** The forms of ISO 8601 and RFC 3339 that programs write: `+02`, `+0200`, small letters, any number of digits. */
const dateTimePattern =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+\-\u2212])(\d{2})(?::?(\d{2}))?)$/

/** Returns the instant of ISO 8601 date-time text with an offset; undefined for other text, before 1970 and after 9999. */
export const instantOf = (text: string): Millis | undefined => {
  const at = anyInstantOf(text)
  return at !== undefined && at >= 0 && at <= latest ? at : undefined
}

/**
 * Returns the instant in any year of four digits. Digits finer than milliseconds are dropped. A leap second is the
 * second after it.
 */
export const anyInstantOf = (text: string): Millis | undefined => {
  const match = dateTimePattern.exec(text)
  if (match === null) return undefined
  const [, day, time, seconds = "00", fraction = "", sign, hours = "00", minutes = "00"] = match
  if (!isDay(day!)) return undefined
  const offset = `${sign === "+" ? "+" : "-"}${hours}:${minutes}`
  const isLeap = seconds === "60"
  const millis = fraction.slice(0, 3).padEnd(3, "0")
  const at = Date.parse(`${day}T${time}:${isLeap ? "59" : seconds}.${millis}${offset}`) + (isLeap ? 1_000 : 0)
  return Number.isNaN(at) || (isLeap && !isAfterMonth(at)) ? undefined : at
}

/** `Date.parse` reads 30 February as 2 March. A day that does not exist is rejected instead. */
const isDay = (day: string): boolean => {
  const at = Date.parse(day)
  return !Number.isNaN(at) && toText(at).startsWith(day)
}

/** True in the second after the last one of a month in UTC. Only there a leap second can be. */
const isAfterMonth = (at: Millis): boolean => toText(at).slice(8, 19) === "01T00:00:00"

/** ISO 8601 date-time text with an offset. Years before 1970 and after 9999 are not accepted. */
export const DateTimeText = Schema.String.check(
  Schema.makeFilter((text: string) => instantOf(text) !== undefined, {
    expected: "an ISO 8601 date-time with an offset",
    representation: { id: "usher/date_time", payload: null },
    toJsonSchema: () => ({ format: "date-time" })
  })
).annotate({ examples: ["2026-11-21T18:00:00.000Z"] })

const textAndMillis = SchemaTransformation.transform({
  // Text of Usher's own is not checked before.
  decode: (text: string) => anyInstantOf(text) ?? Number.NaN,
  encode: toText
})

/** An instant: ISO 8601 text outside, {@link Millis} inside. */
export const Timestamp = DateTimeText.pipe(Schema.decodeTo(Schema.Finite, textAndMillis))

/** An instant in responses that must be cheap: text written by Usher is not validated. */
export const SentTimestamp = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.Number, textAndMillis)
)

/** Formats the instant as UTC text with milliseconds and `Z`. */
export function toText(at: Millis): string {
  return new Date(at).toISOString()
}
