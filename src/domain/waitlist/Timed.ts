/** The timed transitions of a waitlist. */
import { expiry } from "../mechanism/Grants.ts"
import { closing, teardownWhen, type TimedTransition, type TimedTransitions } from "../mechanism/Timed.ts"
import { isGivenBack, unitRules } from "../mechanism/Units.ts"
import type { Event } from "./Event.ts"
import { isEnded, isOffering, type State, unitsToOffer, unitUse } from "./State.ts"

/** The sequence opens, so that the members are to be notified. */
const notice: TimedTransition<State, Event> = {
  dueAt: (state) => (state.isNoticeDue || isEnded(state) || state.tornDown ? Infinity : state.noticeAt),
  make: (_, at) => ({ _tag: "NoticeDue", at })
}

/** The offer of a free unit to the member that has waited longest. It is dated when it is made: only then can it be used. */
const offer: TimedTransition<State, Event> = {
  dueAt: (state) => (state.waiting.size > 0 && unitsToOffer(state) > 0 ? state.lastAt : Infinity),
  noticedAt: (_, now) => now,
  make: ({ waiting }, at) => ({ _tag: "Offered", at, consumerId: waiting.first!.place.consumerId })
}

/** After an end, the members who were not notified are denied, one by one. Without offers to come, the closing does it. */
const denial: TimedTransition<State, Event> = {
  dueAt: (state) => (state.waiting.size > 0 ? (isOffering(state) ? state.closedAt : state.endedAt) : Infinity),
  make: ({ waiting }, at) => ({ _tag: "Denied", at, consumerId: waiting.first!.place.consumerId })
}

/** A closed waitlist has work to do until every member has been notified, and no offer is left. */
const teardown = teardownWhen<State>(
  (state) => state.waiting.size === 0 && state.counts.OFFERED === 0 && isGivenBack(state)
)

const { giving } = unitRules(unitUse)

export const timed: TimedTransitions<State, Event> = [closing, notice, denial, expiry, offer, giving, teardown]
