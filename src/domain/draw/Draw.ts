/**
 * The draw: a raffle that anyone can check (interface document 2.8; completions 3, "Draw"). This is its door; the rules
 * are in `draw/`: what happened changes the state in Evolve, commands are judged in Decide, time is read in Due. How the
 * winners follow from the seed stands at the head of Algorithm; Entries and Selection work it out in slices, Proof shows
 * it, and Verification checks it from the proof alone.
 *
 * A draw's way: Entered and Left until `closeAt`; Closed; EntriesFixed, when the digest of the list is worked out; from
 * `drawAt` on, with the beacon's round if it waits for one, a Won for each winner, and Drawn. Whoever is not drawn is
 * DENIED from that moment on, and the denials are recorded one by one. With `continueSelectingUntilCompleted` the next in
 * the drawn order wins in place of whoever's win expired or was denied; then the draw is over, and the rest are DENIED,
 * when as many have completed as were to win, or an admin ends it. A drawing that has begun is finished, also if an admin
 * ends the draw meanwhile.
 */
import type { Decider } from "../mechanism/Decider.ts"
import { Configuration } from "./Configuration.ts"
import { decide } from "./Decide.ts"
import { due, wakeAt } from "./Due.ts"
import { Event } from "./Event.ts"
import { evolve } from "./Evolve.ts"
import type { Command, Refusal, View } from "./Protocol.ts"
import { initial, type State } from "./State.ts"
import { type Facts, facts, place, published, view } from "./View.ts"
import { lifecycle, statusFields } from "../mechanism/Lifecycle.ts"

export { timeOfRound } from "./proof/Beacon.ts"
export { Configuration, configurationProblems } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { Proof } from "./proof/Proof.ts"
export { type Command, DenialReason, type Refusal, type View } from "./Protocol.ts"
export { awaitsBeacon, type State } from "./State.ts"
export type { Facts } from "./View.ts"

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
  publishedFacts: published,
  statusFields,
  lifecycle: (state, now) => lifecycle(state, state.configuration, now),
  counts: (state) => ({ ...state.counts }),
  rated: { entries: ["Entered"], grants: ["Won"] },
  // The last completion ends the draw for everyone who still stands.
  farReaching: ["Completed"]
}
