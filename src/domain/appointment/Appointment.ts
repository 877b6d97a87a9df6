/**
 * The appointment: a consumer books one of many slots (interface document 2.8; completions 3, "Appointment"). This is its
 * door; the rules are in `appointment/`: which slots there are says Timetable, what happened changes the state in Evolve,
 * commands are judged in Decide, time is read in Due.
 */
import { Configuration } from "./Configuration.ts"
import { decide } from "./Decide.ts"
import { due, wakeAt } from "./Due.ts"
import { Event } from "./Event.ts"
import { evolve } from "./Evolve.ts"
import type { Command, Facts, Refusal, View } from "./Protocol.ts"
import { initial, type State } from "./State.ts"
import { facts, place, view } from "./View.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { lifecycle, statusFields } from "../mechanism/Lifecycle.ts"

export { Configuration, configurationProblems } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { defaultHours, Hours } from "./Hours.ts"
export { slotId, slotStart } from "./Names.ts"
export { type Command, type Facts, type Refusal, statuses, type View } from "./Protocol.ts"
export type { State } from "./State.ts"
export { offeredSlots } from "./View.ts"

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
