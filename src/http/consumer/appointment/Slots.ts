/** The slots of an appointment on the days that the caller asks for. */
import { Result } from "effect"
import { type Facts, offeredSlots, slotId } from "../../../domain/appointment/Appointment.ts"
import { toText } from "../../../domain/values/Time.ts"
import { dayMillis, dayOf, firstAt, lastDay, readingAt, wallClock } from "../../../domain/values/WallClock.ts"
import type { ValidationError } from "../../errors/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import type { Slots } from "./AppointmentApi.ts"

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

/** The slots on these days, or the issue of the days. */
export const slotsOn = (
  appointmentId: string,
  asked: Asked,
  facts: Facts
): Result.Result<typeof Slots.Type, ValidationError> => {
  const timeZone = asked.timezone ?? facts.timeZone
  const startDate = asked.startDate ?? todayIn(timeZone, facts.now)
  const endDate = asked.endDate ?? Math.min(startDate + (daysDefault - 1) * dayMillis, lastDay)
  if (endDate < startDate) return tooFar(endDate, "not before startDate")
  if (endDate - startDate >= daysMax * dayMillis) return tooFar(endDate, `at most ${daysMax} days with the first`)
  const after = endDate + dayMillis
  const clock = wallClock(timeZone, startDate - 2 * dayMillis, after + 2 * dayMillis)
  const data: Array<(typeof Slots.Type)["data"][number]> = []
  const { capacity, locationId = null } = facts
  for (const { startTime, endTime, available } of offeredSlots(facts, {
    from: firstAt(clock, startDate),
    to: firstAt(clock, after)
  })) {
    if (data.length === slotsMax) return tooFar(endDate, `near enough that there are at most ${slotsMax} slots`)
    data.push({ id: slotId(appointmentId, startTime), startTime, endTime, capacity, available, locationId })
  }
  return Result.succeed({ timeZone, startDate, endDate, data })
}

const todayIn = (timeZone: string, now: number): number => dayOf(readingAt(wallClock(timeZone, now, now), now))

const tooFar = (endDate: number, expected: string) =>
  Result.fail(
    invalidInput([
      issueAt({ endDate: toText(endDate).slice(0, 10) }, "endDate", { kind: "validation", type: "date_time", expected })
    ])
  )
