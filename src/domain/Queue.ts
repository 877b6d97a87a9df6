/**
 * The queue: a virtual waiting room (interface document 2.8; completions 3, "Queue"). This is its door; the rules are in
 * `queue/`: what happened changes the state in Evolve, commands are judged in Decide, time is read in Due and Pacing.
 */
import type { Decider } from "./Decider.ts"
import { lifecycle, statusFields } from "./Life.ts"
import { Configuration } from "./queue/Configuration.ts"
import { decide } from "./queue/Decide.ts"
import { due, wakeAt } from "./queue/Due.ts"
import { Event } from "./queue/Event.ts"
import { evolve } from "./queue/Evolve.ts"
import type { Command, Refusal, View } from "./queue/Protocol.ts"
import { initial, type State } from "./queue/State.ts"
import { place, view } from "./queue/View.ts"

export { Configuration, configurationProblems } from "./queue/Configuration.ts"
export { Event } from "./queue/Event.ts"
export { AdminReason, type Command, DenialReason, type Refusal, type View } from "./queue/Protocol.ts"
export type { State } from "./queue/State.ts"

export const decider: Decider<Configuration, State, Command, Event, Refusal, View> = {
  configuration: Configuration,
  event: Event,
  initial,
  due,
  decide,
  evolve,
  wakeAt,
  view,
  place,
  configurationOf: (state) => state.configured,
  statusFields,
  lifecycle: (state, now) => lifecycle(state, state.configuration, now),
  counts: (state) => ({ ...state.counts }),
  rated: { entries: ["Entered"], grants: ["Granted"] }
}
