/** The timed transitions of a waitlist. */
import { closing, teardownWhen, type TimedTransition, type TimedTransitions } from "../mechanism/Timed.ts"
import type { Event } from "./Event.ts"
import { isEnded, type State } from "./State.ts"

/** The sequence opens, so that the members are to be notified. */
const notice: TimedTransition<State, Event> = {
  dueAt: (state) => (state.isNoticeDue || isEnded(state) || state.tornDown ? Infinity : state.noticeAt),
  make: (_, at) => ({ _tag: "NoticeDue", at })
}

/** After an end, the members who were not notified are denied, one by one. */
const denial: TimedTransition<State, Event> = {
  dueAt: ({ waiting, endedAt }) => (waiting.size > 0 ? endedAt : Infinity),
  make: ({ waiting }, at) => ({ _tag: "Denied", at, consumerId: waiting.first!.place.consumerId })
}

/** A closed waitlist has work to do until every member has been notified. */
const teardown = teardownWhen<State>(({ waiting }) => waiting.size === 0)

export const timed: TimedTransitions<State, Event> = [closing, notice, denial, teardown]
