/**
 * The queue: a virtual waiting room (interface document 2.8; completions 3, "Queue"). This is its door; the rules are in
 * `queue/`: what happened changes the state in Evolve, commands are judged in Decide, time is read in Due and Pacing.
 */
import type { Decider } from "../mechanism/Decider.ts"
import { lifecycle, statusFields } from "../mechanism/Lifecycle.ts"
import { Configuration } from "./Configuration.ts"
import { decide } from "./Decide.ts"
import { due, wakeAt } from "./Due.ts"
import { Event } from "./Event.ts"
import { evolve } from "./Evolve.ts"
import type { Command, Refusal, View } from "./Protocol.ts"
import { initial, type State } from "./State.ts"
import { place, view } from "./View.ts"

export { Configuration, configurationProblems } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { AdminReason, type Command, DenialReason, type Refusal, type View } from "./Protocol.ts"
export type { State } from "./State.ts"

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
  rated: { entries: ["Entered"], grants: ["Granted"] },
  lines: ({ waiting }) => [waiting]
}
