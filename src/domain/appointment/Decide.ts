/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import { Equal, HashMap } from "effect"
import type { ExtractTag } from "effect/Types"
import { authored } from "../mechanism/Author.ts"
import { unchanged } from "../mechanism/Administration.ts"
import {
  AlreadyBooked,
  Closed,
  Full,
  GuestsRefused,
  NotOpen,
  SlotFull,
  SlotNotBegun,
  SlotPast,
  UnknownLocation,
  UnknownSlot,
  WrongStatus
} from "../mechanism/Refusals.ts"
import { isClosed } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import { bookingName } from "./Names.ts"
import type { Command, Refusal, Status } from "./Protocol.ts"
import { type Booking, placesMax, placesTaken, type State, statusAsOf } from "./State.ts"
import { type Slot, slotAt, slotsOverlapping, timetableOf } from "./Timetable.ts"

type Outcome = ReadonlyArray<Event> | Refusal

/** An absent `openAt` means open from the beginning. */
export const hasOpened = (state: State, at: Millis): boolean =>
  state.bookings.size > 0 || (state.configuration.openAt ?? 0) <= at

/** The settings that define the slots. A refusal of a change of slots names one of them. */
const slotSettings = [
  "timeZone",
  "hours",
  "slotDurationMinutes",
  "bufferMinutes",
  "slotsFrom",
  "slotsUntil"
] as const satisfies ReadonlyArray<keyof Configuration>

/** Returns the setting that must not change: an opening in the past, or a setting that a booking relies on. */
export const fixedSetting = (state: State, next: Configuration, at: Millis): keyof Configuration | undefined => {
  const current = state.configured
  if (hasOpened(state, at) && next.openAt !== current.openAt) return "openAt"
  if (state.active.size > 0 && next.locationId !== current.locationId) return "locationId"
  const changed = slotSettings.find((setting) => !Equal.equals(next[setting], current[setting]))
  return changed !== undefined && wouldOverlap(state, next, at) ? changed : undefined
}

/**
 * Whether a new slot would overlap a booked slot that is not over, without being the same. A booked slot may disappear
 * from the timetable: its bookings keep their times.
 */
const wouldOverlap = (state: State, next: Configuration, at: Millis): boolean => {
  const timetable = timetableOf(next)
  for (const [startTime, { endTime }] of HashMap.entries(state.taken)) {
    if (endTime <= at) continue
    for (const slot of slotsOverlapping(timetable, { startTime, endTime })) {
      if (slot.startTime !== startTime || slot.endTime !== endTime) return true
    }
  }
  return false
}

const book = (state: State, command: ExtractTag<Command, "Book">, at: Millis, entropy: () => string): Outcome => {
  const { consumerId, isGuest, startTime, locationId } = command
  const { bookings, configuration } = state
  if (locationId !== undefined && locationId !== configuration.locationId) return new UnknownLocation()
  const booking = bookings.get(consumerId)
  if (booking !== undefined && booking.status !== "CANCELLED") {
    return booking.startTime === startTime ? unchanged : new AlreadyBooked()
  }
  if (isGuest === true && configuration.supportsGuest === false) return new GuestsRefused()
  const slot = freeSlot(state, startTime, at)
  if ("_tag" in slot) return slot
  if (booking === undefined && bookings.size >= placesMax) return new Full({ retryAfterSeconds: 60 })
  return [{ _tag: "Booked", at, consumerId, ...slot, ...bookingName(at, entropy()) }]
}

/** Moves a booking. One event frees the old slot and takes the new one. */
const reschedule = (
  state: State,
  { consumerId, startTime, by }: ExtractTag<Command, "Reschedule">,
  at: Millis
): Outcome => {
  const booking = state.bookings.get(consumerId)
  const status = statusOf(booking, at)
  if (booking === undefined || status !== "BOOKED") return new WrongStatus({ status })
  if (booking.startTime === startTime) return unchanged
  if (booking.startTime <= at) return new SlotPast()
  const slot = freeSlot(state, startTime, at)
  return "_tag" in slot ? slot : [{ _tag: "Rescheduled", at, consumerId, ...slot, ...authored(by) }]
}

/** Returns the slot that begins at this instant, or the refusal if it cannot be booked now. */
const freeSlot = (
  state: State,
  startTime: Millis | undefined,
  at: Millis
): Slot | UnknownSlot | Closed | NotOpen | SlotPast | SlotFull => {
  const { openAt, maxCapacityPerSlot } = state.configuration
  const slot = startTime === undefined ? undefined : slotAt(state.timetable, startTime)
  if (slot === undefined) return new UnknownSlot()
  if (isClosed(state, at)) return new Closed()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (slot.startTime <= at) return new SlotPast()
  return placesTaken(state.taken, slot.startTime) < maxCapacityPerSlot ? slot : new SlotFull()
}

const cancel = (state: State, { consumerId, by }: ExtractTag<Command, "Cancel">, at: Millis): Outcome => {
  const booking = state.bookings.get(consumerId)
  const status = statusOf(booking, at)
  if (status === "CANCELLED") return unchanged
  if (booking === undefined || status !== "BOOKED") return new WrongStatus({ status })
  return booking.startTime <= at ? new SlotPast() : [{ _tag: "Cancelled", at, consumerId, ...authored(by) }]
}

const checkIn = (state: State, { consumerId, by }: ExtractTag<Command, "CheckIn">, at: Millis): Outcome => {
  const booking = state.bookings.get(consumerId)
  const status = statusOf(booking, at)
  if (status === "CHECKED_IN") return unchanged
  const isLate = status === "NO_SHOW" && booking !== undefined && at < booking.endTime
  return status === "BOOKED" || isLate ? [{ _tag: "CheckedIn", at, consumerId, by }] : new WrongStatus({ status })
}

const complete = (state: State, { consumerId, by }: ExtractTag<Command, "Complete">, at: Millis): Outcome => {
  const status = statusOf(state.bookings.get(consumerId), at)
  if (status === "COMPLETED") return unchanged
  if (status === "NOT_BOOKED" || status === "CANCELLED") return new WrongStatus({ status })
  return [{ _tag: "Completed", at, consumerId, by }]
}

const miss = (state: State, { consumerId, by }: ExtractTag<Command, "Miss">, at: Millis): Outcome => {
  const booking = state.bookings.get(consumerId)
  const status = statusOf(booking, at)
  if (status === "NO_SHOW") return unchanged
  if (booking === undefined || (status !== "BOOKED" && status !== "CHECKED_IN")) return new WrongStatus({ status })
  return booking.startTime > at ? new SlotNotBegun() : [{ _tag: "Missed", at, consumerId, by }]
}

const remove = (state: State, { consumerId, by }: ExtractTag<Command, "Remove">, at: Millis): Outcome => {
  const status = statusOf(state.bookings.get(consumerId), at)
  return status === "BOOKED" || status === "CHECKED_IN" ? [{ _tag: "Cancelled", at, consumerId, by }] : unchanged
}

const statusOf = (booking: Booking | undefined, at: Millis): Status | "NOT_BOOKED" =>
  booking === undefined ? "NOT_BOOKED" : statusAsOf(booking, at)

/** The decision on each command of an appointment. */
export const decisions = {
  Book: book,
  Reschedule: reschedule,
  Cancel: cancel,
  CheckIn: checkIn,
  Complete: complete,
  Miss: miss,
  Remove: remove
}
