/**
 * The auction (interface document 2.8; completions 3, "Auction"): english, where the highest bids win and each pays what
 * it bid, or dutch, where the price falls until somebody takes it. This is its door; the rules are in `auction/`: what
 * happened changes the state in Evolve, commands are judged in Decide and Bidding, prices are worked out in Prices, time
 * is read in Due.
 *
 * Where the documents leave a choice: who enters is BIDDING until its first bid, and a bid enters by itself. A place takes
 * one unit. A bid at the instant of `closeAt` is too late. A leader that raises its bid is held to the same increment as
 * the others. Denying one who leads lets the next best bid lead; a unit that was won is not given to anyone else. Ending an
 * auction before its time calls it off: who waits for the outcome is denied with `AUCTION_CLOSED`. A dutch auction is
 * settled when it is sold out, and its price falls from its creation on if it has no `openAt`, or from when its experience
 * opens if that is later. Late bids move the closing also beyond the one of the experience. Once it has opened, only
 * the name, the time zone and how long grants live can change.
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

export { AuctionType, Configuration, configurationProblems } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { type Bid, bidsShownMax, type Command, DenialReason, type Facts, type Refusal, type View } from "./Protocol.ts"
export type { State } from "./State.ts"

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
  rated: { entries: ["Entered"], grants: ["Won"] }
}
