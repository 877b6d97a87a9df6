/**
 * The waitlist: it collects interest before a sequence opens, and its members are notified, once, when it does (interface
 * document 2.8; completions 3, "Waitlist"). This is its door; the rules are in `waitlist/`: what happened changes the
 * state in Evolve, commands are judged in Decide, time is read in Due.
 *
 * When the sequence opens is said from outside, because it depends on other mechanisms; and so is who has been told.
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
export type { Channel, Command, Refusal, View } from "./Protocol.ts"
export { type Awaiting, awaitingNotice, type State } from "./State.ts"

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
  rated: { entries: ["Entered"], grants: [] },
  lines: ({ members }) => [members],
  nonRecordEvents: ["NoticeScheduled", "NoticeDue"]
}
