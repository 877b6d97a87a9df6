/**
 * How each event changes an appointment. An event is a fact: nothing is checked here, and an event of an unknown
 * consumer changes no place.
 */
import { HashMap } from "effect"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { Status } from "./Protocol.ts"
import { Booking, placesTaken, type State } from "./State.ts"
import { type Slot, timetableOf } from "./Timetable.ts"

type EventOf<Tag extends Event["_tag"]> = Extract<Event, { readonly _tag: Tag }>

export const apply = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      setConfiguration(state, event.configuration)
      state.timetable = timetableOf(event.configuration)
      return
    case "Booked":
      return book(state, event)
    case "Rescheduled":
      return reschedule(state, event)
    case "CheckedIn":
      return move(state, event, "CHECKED_IN")
    case "Completed":
      return move(state, event, "COMPLETED")
    case "Cancelled":
      return move(state, event, "CANCELLED")
    case "Missed":
      return move(state, event, "NO_SHOW")
    default:
      return evolveLifecycle(state, event)
  }
}

const book = (state: State, event: EventOf<"Booked">): void => {
  const former = state.bookings.get(event.consumerId)
  if (former !== undefined) remove(state, former)
  const booking = new Booking(event.consumerId, event.at, event, event)
  state.bookings.set(event.consumerId, booking)
  insert(state, booking)
}

const reschedule = (state: State, { at, consumerId, startTime, endTime }: EventOf<"Rescheduled">): void =>
  change(state, consumerId, at, (booking) => {
    booking.startTime = startTime
    booking.endTime = endTime
  })

const move = (state: State, event: { readonly consumerId: string; readonly at: Millis }, status: Status): void =>
  change(state, event.consumerId, event.at, (booking) => {
    booking.status = status
  })

const change = (state: State, consumerId: string, at: Millis, how: (booking: Booking) => void): void => {
  const booking = state.bookings.get(consumerId)
  if (booking === undefined) return
  remove(state, booking)
  how(booking)
  booking.since = at
  booking.revision++
  insert(state, booking)
}

/** Counts a booking and lists it according to its status and its slot. */
const insert = (state: State, booking: Booking): void => {
  const { status } = booking
  state.counts[status]++
  if (status === "BOOKED" || status === "CHECKED_IN") state.active.insert(booking)
  if (status !== "CANCELLED") take(state, booking, 1)
}

/** Undoes {@link insert}. */
const remove = (state: State, booking: Booking): void => {
  state.counts[booking.status]--
  state.active.remove(booking)
  if (booking.status !== "CANCELLED") take(state, booking, -1)
}

const take = (state: State, { startTime, endTime }: Slot, more: 1 | -1): void => {
  const places = placesTaken(state.taken, startTime) + more
  state.taken =
    places === 0 ? HashMap.remove(state.taken, startTime) : HashMap.set(state.taken, startTime, { endTime, places })
}
