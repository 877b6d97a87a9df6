/**
 * Instants. Inside the domain an instant is a number of milliseconds since the Unix epoch, so that rules are plain
 * arithmetic. Outside it is ISO 8601 text: with any offset in requests, and in UTC with milliseconds and `Z` in
 * responses (interface document, head; completions 1).
 */
import { Schema, SchemaTransformation } from "effect"

/** Milliseconds since the Unix epoch. */
export type Millis = number

const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** ISO 8601 date-time text with an offset. Years before 1970 and after 9999 are not accepted. */
export const DateTimeText = Schema.String.check(
  Schema.makeFilter((text: string) => dateTimePattern.test(text) && isInRange(Date.parse(text)) && isDay(text), {
    expected: "an ISO 8601 date-time with an offset",
    representation: { id: "usher/date_time", payload: null },
    toJsonSchema: () => ({ format: "date-time" })
  })
).annotate({ examples: ["2026-11-21T18:00:00.000Z"] })

const textAndMillis = SchemaTransformation.transform({ decode: (text: string) => Date.parse(text), encode: toText })

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

/** `Date.parse` reads 30 February as 2 March. A day that does not exist is rejected instead. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10)
  return toText(Date.parse(day)).startsWith(day)
}

function isInRange(at: number): boolean {
  return at >= 0 && at <= 253_402_300_799_999
}
