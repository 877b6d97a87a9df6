/**
 * Instants. Inside the domain an instant is a number of milliseconds since the Unix epoch, so that rules are plain
 * arithmetic; outside it is ISO 8601 text: any offset coming in, UTC with milliseconds and `Z` going out
 * (interface document, head; completions 1).
 */
import { Schema, SchemaTransformation } from "effect"

/** Milliseconds since the Unix epoch. */
export type Millis = number

const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** ISO 8601 date-time text with an offset, as it travels; no instant before 1970 or after 9999. */
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

/** The same for answers that must cost little: text that we wrote ourselves is not checked. */
export const SentTimestamp = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.Number, textAndMillis)
)

/** The instant as UTC text with milliseconds and `Z`. */
export function toText(at: Millis): string {
  return new Date(at).toISOString()
}

/** `Date.parse` takes 30 February for 2 March; a day that does not exist is refused instead. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10)
  return toText(Date.parse(day)).startsWith(day)
}

function isInRange(at: number): boolean {
  return at >= 0 && at <= 253_402_300_799_999
}
