/**
 * The timed release: everyone who enters inside its window, while its units last, is granted at once (interface document
 * 2.9; completions 3, "Timed release"). This is its door; the rules are in `timedRelease/`: what happened changes the
 * state in Evolve, commands are judged in Decide, time is read in Due.
 */
import type { Decider } from "./Decider.ts"
import { lifecycle, statusFields } from "./Life.ts"
import { Configuration } from "./timedRelease/Configuration.ts"
import { decide } from "./timedRelease/Decide.ts"
import { due, wakeAt } from "./timedRelease/Due.ts"
import { Event } from "./timedRelease/Event.ts"
import { evolve } from "./timedRelease/Evolve.ts"
import type { Command, Refusal, View } from "./timedRelease/Protocol.ts"
import { initial, type State } from "./timedRelease/State.ts"
import { place, view } from "./timedRelease/View.ts"

export { Configuration, configurationProblems } from "./timedRelease/Configuration.ts"
export { Event } from "./timedRelease/Event.ts"
export type { Command, Refusal, View } from "./timedRelease/Protocol.ts"
export type { State } from "./timedRelease/State.ts"

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
  rated: { entries: ["Entered"], grants: ["Entered"] }
}
