/** The slots of an appointment on the days that the caller asks for, encoded. */
import { Result } from "effect"
import { type Facts, offeredSlots, slotId } from "../../../domain/appointment/Appointment.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import { dayMillis, dayOf, firstAt, lastDay, readingAt, wallClock } from "../../../domain/values/WallClock.ts"
import { KeptAnswers } from "../KeptAnswers.ts"
import type { ValidationError } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"

/** Days in one answer. */
const daysMax = 62

/** Days in an answer if the caller gives no end. */
const daysDefault = 7

/** Slots in one answer: a week of slots of one minute round the clock, or 62 days of slots of some 8 minutes. */
const slotsMax = 11_000

/** The query. A day is the reading of a wall clock at its beginning. */
interface Asked {
  readonly startDate?: number
  readonly endDate?: number
  readonly timezone?: string
}

/** The days of an answer, and the clock that they are read on. */
interface Days {
  readonly timeZone: string
  readonly startDate: number
  readonly endDate: number
}

/** What an answer depends on beside the days. Bookings and settings replace the values that they change. */
interface Basis extends Omit<Facts, "now"> {
  /** The beginning of the first slot in the answer, which is hidden from then on. */
  readonly until: Millis
}

/** The answer as JSON; undefined if there are too many slots. */
type Answer = Uint8Array | undefined

/** Makes the function that answers with the slots on these days, or with the issue of the days. */
export const make = () => {
  const kept = new KeptAnswers<Basis, Answer>((answer) => answer?.length ?? 0)
  return (appointmentId: string, asked: Asked, facts: Facts): Result.Result<Uint8Array, ValidationError> => {
    const timeZone = asked.timezone ?? facts.timeZone
    const startDate = asked.startDate ?? todayIn(timeZone, facts.now)
    const endDate = asked.endDate ?? Math.min(startDate + (daysDefault - 1) * dayMillis, lastDay)
    if (endDate < startDate) return tooFar(endDate, "not before startDate")
    if (endDate - startDate >= daysMax * dayMillis) return tooFar(endDate, `at most ${daysMax} days with the first`)
    const answer = kept.of(
      `${appointmentId} ${startDate} ${endDate} ${timeZone}`,
      (basis) => holds(basis, facts),
      () => encoded(appointmentId, { timeZone, startDate, endDate }, facts)
    )
    if (answer === undefined) return tooFar(endDate, `near enough that there are at most ${slotsMax} slots`)
    return Result.succeed(answer)
  }
}

const holds = (basis: Basis, { now, ...facts }: Facts): boolean =>
  now < basis.until &&
  basis.taken === facts.taken &&
  basis.timetable === facts.timetable &&
  basis.capacity === facts.capacity &&
  basis.locationId === facts.locationId &&
  basis.isOpenStill === facts.isOpenStill

/** Writes the answer as its schema does, which would interpret each of thousands of slots. */
const encoded = (appointmentId: string, { timeZone, startDate, endDate }: Days, facts: Facts) => {
  const after = endDate + dayMillis
  const clock = wallClock(timeZone, startDate - 2 * dayMillis, after + 2 * dayMillis)
  const span = { from: firstAt(clock, startDate), to: firstAt(clock, after) }
  const slots = [...take(offeredSlots(facts, span), slotsMax + 1)]
  const basis: Basis = { ...facts, until: slots[0]?.startTime ?? span.to }
  if (slots.length > slotsMax) return { basis, answer: undefined }
  const { capacity, locationId = null } = facts
  const common = `"capacity":${capacity},"locationId":${JSON.stringify(locationId)}`
  const textOf = makeInstants()
  let data = ""
  for (const { startTime, endTime, available } of slots) {
    const times = `"startTime":"${textOf(startTime)}","endTime":"${textOf(endTime)}"`
    data += `${data === "" ? "" : ","}{"id":"${slotId(appointmentId, startTime)}",${times},"available":${available},${common}}`
  }
  const head = JSON.stringify({ timeZone, startDate: dayText(startDate), endDate: dayText(endDate) })
  // All of it is ASCII, which is copied faster than UTF-8 is encoded.
  return { basis, answer: Buffer.from(`${head.slice(0, -1)},"data":[${data}]}`, "latin1") }
}

/** Makes the function that writes instants as `toText` does. Most are whole minutes of the day of the one before. */
const makeInstants = () => {
  let day = Number.NaN
  let prefix = ""
  return (at: Millis): string => {
    const minutes = (at % dayMillis) / 60_000
    if (!Number.isInteger(minutes)) return toText(at)
    if (at - minutes * 60_000 !== day) {
      day = at - minutes * 60_000
      prefix = dayText(day)
    }
    const hour = Math.floor(minutes / 60)
    return `${prefix}T${twoDigits[hour]}:${twoDigits[minutes % 60]}:00.000Z`
  }
}

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"))

function* take<A>(items: Iterable<A>, most: number): Generator<A> {
  let count = 0
  for (const item of items) {
    if (count++ === most) return
    yield item
  }
}

const todayIn = (timeZone: string, now: number): number => dayOf(readingAt(wallClock(timeZone, now, now), now))

const dayText = (day: number): string => toText(day).slice(0, 10)

const tooFar = (endDate: number, expected: string) =>
  Result.fail(
    invalidInput([
      issueAt({ endDate: dayText(endDate) }, "endDate", { kind: "validation", type: "date_time", expected })
    ])
  )
