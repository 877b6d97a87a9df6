/**
 * The views of an appointment: a consumer's view of its booking, the public facts, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { isClosed } from "../mechanism/State.ts"
import { type Millis, toText } from "../values/Time.ts"
import { dayMillis, dayOf, firstAt, readingAt } from "../values/WallClock.ts"
import type { Configuration } from "./Configuration.ts"
import type { Facts, View } from "./Protocol.ts"
import { placesTaken, type State, statusAsOf } from "./State.ts"
import { type Slot, slotsBetween } from "./Timetable.ts"

/** Returns the consumer's view of its booking at `now`, the end of its slot already applied. */
export const view = (state: State, consumerId: string, now: Millis): View => {
  const booking = state.bookings.get(consumerId)
  if (booking === undefined) return { status: "NOT_BOOKED" }
  const { bookingId, startTime, endTime, confirmationCode, createdAt, revision, since: updatedAt } = booking
  const status = statusAsOf(booking, now)
  return { status, bookingId, startTime, endTime, confirmationCode, createdAt, updatedAt, revision }
}

/** Returns the consumer's row in the projection: the recorded status, instants as text. */
export const place = (state: State, consumerId: string): PlaceRow | undefined => {
  const booking = state.bookings.get(consumerId)
  if (booking === undefined) return undefined
  const { status, createdAt, since, bookingId, startTime, endTime, confirmationCode } = booking
  const fields = { bookingId, startTime: toText(startTime), endTime: toText(endTime), confirmationCode }
  return { status, enteredAt: createdAt, updatedAt: since, fields }
}

/** Returns the public facts at `now`. */
export const facts = (state: State, now: Millis): Facts => ({
  now,
  timeZone: state.configuration.timeZone,
  locationId: state.configuration.locationId,
  timetable: state.timetable,
  capacity: state.configuration.maxCapacityPerSlot,
  isOpenStill: !isClosed(state, now),
  taken: state.taken
})

/** A slot and the number of places that are left in it. */
export interface OfferedSlot extends Slot {
  readonly available: number
}

/** Returns the slots that begin within a span of time and have not begun, sorted. After the closing there are none. */
export function* offeredSlots(
  { now, timetable, capacity, isOpenStill, taken }: Facts,
  span: { readonly from: Millis; readonly to: Millis }
): Generator<OfferedSlot> {
  for (const { startTime, endTime } of slotsBetween(timetable, Math.max(span.from, now + 1), span.to)) {
    const available = isOpenStill ? Math.max(0, capacity - placesTaken(taken, startTime)) : 0
    yield { startTime, endTime, available }
  }
}

/** Returns the facts that only staff may know: the bookings of the day, and the places that are left in it. */
export const staffFacts = ({ facts }: Seen<Configuration, Facts>) => {
  const { now, taken } = facts
  const { clock } = facts.timetable
  const day = dayOf(readingAt(clock, now))
  const [from, to] = [firstAt(clock, day), firstAt(clock, day + dayMillis)]
  let booked = 0
  for (const [startTime, { places }] of taken) if (startTime >= from && startTime < to) booked += places
  let free = 0
  for (const { available } of offeredSlots(facts, { from: now, to })) free += available
  return { today: { booked, free } }
}
