/**
 * What the clock on a wall shows: local time in a zone of the IANA database, over a span of time. Its changes within the
 * span are looked up once; afterwards every question is arithmetic.
 *
 * A reading is written like an instant of UTC that looks the same: the clock that shows 09:00 on 1 May reads what UTC
 * reads at 09:00 on 1 May. A reading can come twice (the clock is put back) or never (it is put forward). Every question
 * from a reading to an instant has therefore one answer for both: the first instant at which the clock shows that reading
 * or a later one. So 02:30 of a day that skips from 02:00 to 03:00 is the skip, and of two 02:30 it is the first; a
 * later reading never comes earlier, and between the readings 00:00 and 24:00 lies the whole day, however long it is.
 */
import { DateTime, Option, Schema, SchemaTransformation } from "effect"
import { type Millis, toText } from "./Time.ts"

/** What a wall clock shows, as the milliseconds of the UTC instant that looks the same. */
export type Reading = number

/** A day of the calendar, whose length a wall clock may not keep. */
export const dayMillis = 86_400_000

/** A stretch in which the clock is not changed; it lasts until the next one. */
interface Stretch {
  readonly since: Millis
  /** How far the clock is ahead of UTC. */
  readonly aheadMillis: number
}

export interface WallClock {
  /** In order; the first reaches back for ever, the last on for ever. */
  readonly stretches: ReadonlyArray<Stretch>
}

/** Between two looks: less than the 7 days that lie between the two nearest changes of any clock since 1990. */
const lookMillis = 5 * dayMillis

/** The clock of a zone, right from one instant to another. A zone that is not known is taken for UTC. */
export const wallClock = (timeZone: string, from: Millis, to: Millis): WallClock => {
  const zone = Option.getOrElse(DateTime.zoneMakeNamed(timeZone), () => DateTime.zoneMakeOffset(0))
  const aheadAt = (at: Millis) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(at, { timeZone: zone }))
  const stretches: Array<Stretch> = []

  /** Finds the changes after `before`, up to and with `after`. */
  const look = (before: Millis, aheadBefore: number, after: Millis, aheadAfter: number): void => {
    if (aheadBefore === aheadAfter) return
    if (after - before === 1) {
      stretches.push({ since: after, aheadMillis: aheadAfter })
      return
    }
    const middle = Math.floor((before + after) / 2)
    const aheadMiddle = aheadAt(middle)
    look(before, aheadBefore, middle, aheadMiddle)
    look(middle, aheadMiddle, after, aheadAfter)
  }

  let at = from
  let ahead = aheadAt(at)
  stretches.push({ since: -Infinity, aheadMillis: ahead })
  while (at < to) {
    const next = Math.min(at + lookMillis, to)
    const aheadNext = aheadAt(next)
    look(at, ahead, next, aheadNext)
    at = next
    ahead = aheadNext
  }
  return { stretches }
}

/** What the clock shows at an instant. */
export const readingAt = ({ stretches }: WallClock, at: Millis): Reading => {
  let index = stretches.length - 1
  while (stretches[index]!.since > at) index--
  return at + stretches[index]!.aheadMillis
}

/** The first instant at which the clock shows this or a later reading. */
export const firstAt = ({ stretches }: WallClock, reading: Reading): Millis => {
  let index = 0
  while (index + 1 < stretches.length && reading - stretches[index]!.aheadMillis >= stretches[index + 1]!.since) index++
  const { since, aheadMillis } = stretches[index]!
  return Math.max(since, reading - aheadMillis)
}

/** The reading at the beginning of its day. */
export const dayOf = (reading: Reading): Reading => Math.floor(reading / dayMillis) * dayMillis

/** A day of the calendar: `YYYY-MM-DD` outside, the {@link Reading} at its beginning inside. */
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

/** `Date.parse` takes 30 February for 2 March; a day that does not exist is none. */
function isDay(text: string): boolean {
  const reading = Date.parse(text)
  return reading >= 0 && toText(reading).startsWith(text)
}
