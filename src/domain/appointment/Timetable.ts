/**
 * The slots of an appointment, computed from its opening hours.
 *
 * An opening lasts from the first instant at which local time shows its beginning to the first at which it shows its
 * end. On a day whose clock is put forward it may be shorter, or empty. On a day whose clock is put back it may be
 * longer. Consecutive openings never overlap. The first slot begins with the opening. Slots and the buffers between
 * them last real minutes, and the last slot ends within the opening.
 *
 * There is no list of slots. Whether a slot begins at an instant is computed from the openings of that day and the
 * next.
 */
import { latest, type Millis } from "../values/Time.ts"
import { dayMillis, dayOf, firstAt, readingAt, type WallClock, wallClock } from "../values/WallClock.ts"
import { type Configuration, slotsDaysMax } from "./Configuration.ts"
import { type OpenMinutes, weekOf } from "./Hours.ts"

const minuteMillis = 60_000

export interface Slot {
  readonly startTime: Millis
  readonly endTime: Millis
}

export interface Timetable {
  readonly clock: WallClock
  /** By day of the week, as {@link weekOf} returns them. */
  readonly week: ReadonlyArray<ReadonlyArray<OpenMinutes>>
  readonly durationMillis: number
  /** From the beginning of a slot to the beginning of the next. */
  readonly stepMillis: number
  /** No slot begins before `from` or ends after `until`. */
  readonly from: Millis
  readonly until: Millis
}

/** Returns the timetable of these settings. Accepts settings that are out of range, too. */
export const timetableOf = (configuration: Configuration): Timetable => {
  const { timeZone, hours, slotDurationMinutes, bufferMinutes, slotsFrom, slotsUntil } = configuration
  const from = Math.min(Math.max(0, Math.ceil(slotsFrom)), latest)
  const until = Math.min(Math.max(from, Math.floor(slotsUntil)), from + slotsDaysMax * dayMillis, latest)
  return {
    clock: wallClock(timeZone, from - 2 * dayMillis, until + 2 * dayMillis),
    week: weekOf(hours),
    durationMillis: slotDurationMinutes * minuteMillis,
    stepMillis: (slotDurationMinutes + bufferMinutes) * minuteMillis,
    from,
    until
  }
}

/** Returns the slot that begins at this instant; undefined if none does. */
export const slotAt = (timetable: Timetable, startTime: Millis): Slot | undefined =>
  slotsBetween(timetable, startTime, startTime + 1).next().value

/** Returns the slots that overlap a span of time. */
export const slotsOverlapping = (timetable: Timetable, { startTime, endTime }: Slot): Iterable<Slot> =>
  slotsBetween(timetable, startTime - timetable.durationMillis + 1, endTime)

/** Returns the slots that begin at or after `after` and before `before`, sorted. */
export function* slotsBetween(timetable: Timetable, after: Millis, before: Millis): Generator<Slot, undefined> {
  const { clock, durationMillis, stepMillis, from, until } = timetable
  const first = Math.max(after, from)
  const end = Math.min(before, until - durationMillis + 1)
  if (!(first < end)) return
  // After a clock is put back over midnight, it shows the previous day again, although the next one has begun.
  const lastDay = dayOf(readingAt(clock, end)) + dayMillis
  for (let day = dayOf(readingAt(clock, first)); day <= lastDay; day += dayMillis) {
    for (const opening of openingsOf(timetable, day)) {
      const opensAt = firstAt(clock, day + opening.from * minuteMillis)
      const closesAt = firstAt(clock, day + opening.to * minuteMillis)
      const skipped = Math.max(0, Math.ceil((first - opensAt) / stepMillis))
      for (let startTime = opensAt + skipped * stepMillis; startTime < end; startTime += stepMillis) {
        const endTime = startTime + durationMillis
        if (endTime > closesAt) break
        yield { startTime, endTime }
      }
    }
  }
}

const openingsOf = ({ week }: Timetable, day: Millis): ReadonlyArray<OpenMinutes> => {
  const weekday = (((day / dayMillis) % 7) + 7) % 7
  return week[weekday]!
}
