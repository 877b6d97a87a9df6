/**
 * Local time in a zone of the IANA database, over a span of time. The clock changes within the span are found once;
 * afterwards every query is arithmetic.
 *
 * A reading is written like the instant in UTC that looks the same: the clock that shows 09:00 on 1 May reads what UTC
 * reads at 09:00 on 1 May. A reading can occur twice (the clock is put back) or never (it is put forward). The
 * conversion to an instant is the same for both: the first instant at which the clock shows that reading or a later
 * one. So on a day that skips from 02:00 to 03:00, 02:30 is the instant of the skip, and of two 02:30 it is the first.
 * A later reading never gives an earlier instant, and the readings 00:00 and 24:00 enclose the whole day, whatever its
 * length.
 */
import { DateTime, Option, Schema, SchemaTransformation } from "effect"
import { instantOf, latest, type Millis, toText } from "./Time.ts"

/** The reading of a wall clock, as the milliseconds of the UTC instant that looks the same. */
export type Reading = number

/** The length of a calendar day. On days with a clock change the real length differs. */
export const dayMillis = 86_400_000

/** A period without a clock change. It lasts until the next one. */
interface Stretch {
  readonly since: Millis
  /** How far the clock is ahead of UTC. */
  readonly aheadMillis: number
}

export interface WallClock {
  /** In order. The first has no start and the last no end. */
  readonly stretches: ReadonlyArray<Stretch>
}

/** Step of the search: less than the 7 days between the two closest changes of any clock since 1990. */
const stepMillis = 5 * dayMillis

/** Returns the clock of a zone, correct from `from` to `to`. An unknown zone is treated as UTC. */
export const wallClock = (timeZone: string, from: Millis, to: Millis): WallClock => {
  const zone = Option.getOrElse(DateTime.zoneMakeNamed(timeZone), () => DateTime.zoneMakeOffset(0))
  const aheadAt = (at: Millis) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(at, { timeZone: zone }))
  const stretches: Array<Stretch> = []

  /** Finds the changes after `before`, up to and including `after`. */
  const search = (before: Millis, aheadBefore: number, after: Millis, aheadAfter: number): void => {
    if (aheadBefore === aheadAfter) return
    if (after - before === 1) {
      stretches.push({ since: after, aheadMillis: aheadAfter })
      return
    }
    const middle = Math.floor((before + after) / 2)
    const aheadMiddle = aheadAt(middle)
    search(before, aheadBefore, middle, aheadMiddle)
    search(middle, aheadMiddle, after, aheadAfter)
  }

  let at = from
  let ahead = aheadAt(at)
  stretches.push({ since: -Infinity, aheadMillis: ahead })
  while (at < to) {
    const next = Math.min(at + stepMillis, to)
    const aheadNext = aheadAt(next)
    search(at, ahead, next, aheadNext)
    at = next
    ahead = aheadNext
  }
  return { stretches }
}

/** Returns what the clock shows at an instant. */
export const readingAt = ({ stretches }: WallClock, at: Millis): Reading => {
  let index = stretches.length - 1
  while (stretches[index]!.since > at) index--
  return at + stretches[index]!.aheadMillis
}

/** Returns the first instant at which the clock shows this or a later reading. */
export const firstAt = ({ stretches }: WallClock, reading: Reading): Millis => {
  let index = 0
  while (index + 1 < stretches.length && reading - stretches[index]!.aheadMillis >= stretches[index + 1]!.since) index++
  const { since, aheadMillis } = stretches[index]!
  return Math.max(since, reading - aheadMillis)
}

/** Returns the reading at the start of its day. */
export const dayOf = (reading: Reading): Reading => Math.floor(reading / dayMillis) * dayMillis

/** The last day that can be written as text. */
export const lastDay: Reading = dayOf(latest)

/** A calendar day: `YYYY-MM-DD` outside, the {@link Reading} at its start inside. */
export const CalendarDay = Schema.String.check(
  Schema.makeFilter((text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text), {
    expected: "a day of the calendar: YYYY-MM-DD",
    representation: { id: "usher/date_time", payload: null },
    toJsonSchema: () => ({ format: "date" })
  })
)
  .annotate({ examples: ["2026-11-21"] })
  .pipe(
    Schema.decodeTo(
      Schema.Finite,
      SchemaTransformation.transform({
        decode: (text) => Date.parse(text),
        encode: (reading) => toText(reading).slice(0, 10)
      })
    )
  )

function isDay(text: string): boolean {
  return instantOf(`${text}T00:00Z`) !== undefined
}

/** The instants of a calendar day in a time zone. */
export const daySpan = (day: Reading, timeZone: string): { readonly from: Millis; readonly to: Millis } => {
  const clock = wallClock(timeZone, day - 2 * dayMillis, day + 3 * dayMillis)
  return { from: firstAt(clock, day), to: firstAt(clock, day + dayMillis) }
}
