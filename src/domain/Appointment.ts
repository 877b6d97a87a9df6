/**
 * The appointment: a consumer books one of many slots (interface document 2.8; completions 3, "Appointment"). This is its
 * door; the rules are in `appointment/`: which slots there are says Timetable, what happened changes the state in Evolve,
 * commands are judged in Decide, time is read in Due.
 */
import { Configuration } from "./appointment/Configuration.ts"
import { decide } from "./appointment/Decide.ts"
import { due, wakeAt } from "./appointment/Due.ts"
import { Event } from "./appointment/Event.ts"
import { evolve } from "./appointment/Evolve.ts"
import type { Command, Facts, Refusal, View } from "./appointment/Protocol.ts"
import { initial, type State } from "./appointment/State.ts"
import { facts, place, view } from "./appointment/View.ts"
import type { Decider } from "./Decider.ts"
import { lifecycle, statusFields } from "./Life.ts"

export { Configuration, configurationProblems } from "./appointment/Configuration.ts"
export { Event } from "./appointment/Event.ts"
export { defaultHours, Hours } from "./appointment/Hours.ts"
export { slotId, slotStart } from "./appointment/Names.ts"
export { type Command, type Facts, type Refusal, statuses, type View } from "./appointment/Protocol.ts"
export type { State } from "./appointment/State.ts"
export { offeredSlots } from "./appointment/View.ts"

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = {
  configuration: Configuration,
  event: Event,
  initial,
  due,
  decide,
  evolve,
  wakeAt,
  view,
  facts,
  place,
  configurationOf: (state) => state.configured,
  statusFields,
  lifecycle: (state, now) => lifecycle(state, state.configuration, now),
  counts: (state) => ({ ...state.counts }),
  rated: { entries: ["Booked"], grants: [] }
}
