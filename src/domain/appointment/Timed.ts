/** The timed transitions of an appointment. */
import { closing, teardownWhen, type TimedTransition, type TimedTransitions } from "../mechanism/Timed.ts"
import type { Event } from "./Event.ts"
import type { State } from "./State.ts"

/** The end of the next booked slot. It settles the slot's BOOKED and CHECKED_IN bookings, one by one. */
const settlement: TimedTransition<State, Event> = {
  dueAt: ({ active }) => active.first?.endTime ?? Infinity,
  make: ({ active }, at) => {
    const { status, consumerId } = active.first!
    return { _tag: status === "CHECKED_IN" ? "Completed" : "Missed", at, consumerId }
  }
}

const teardown = teardownWhen<State>(({ active }) => active.size === 0)

export const timed: TimedTransitions<State, Event> = [closing, teardown, settlement]
