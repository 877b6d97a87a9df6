/**
 * What time alone brings: the closing, the notice, the denials after an end, and the teardown. They come in the order of
 * the instants they are due at, and at one instant in the order written here.
 */
import type { Moment } from "../mechanism/Decider.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import { isEnded, type State } from "./State.ts"

/** The earliest transition due at or before `now`. */
export const due = (state: State, { now }: Moment): Event | undefined => {
  const closing = closingDueAt(state)
  const notice = noticeDueAt(state)
  const denial = denialDueAt(state)
  const earliest = Math.min(closing, notice, denial, teardownDueAt(state))
  if (earliest > now) return undefined
  const at = Math.max(state.lastAt, earliest)
  if (closing === earliest) return { _tag: "Closed", at }
  if (notice === earliest) return { _tag: "NoticeDue", at }
  if (denial === earliest) return { _tag: "Denied", at, consumerId: state.waiting.first!.place.consumerId }
  return { _tag: "TornDown", at }
}

/** When {@link due} will next have something; undefined if never. */
export const wakeAt = (state: State): Millis | undefined => {
  const earliest = Math.min(closingDueAt(state), noticeDueAt(state), denialDueAt(state), teardownDueAt(state))
  return earliest === Infinity ? undefined : earliest
}

const closingDueAt = (state: State): Millis =>
  state.closedAt === Infinity ? (state.configuration.closeAt ?? Infinity) : Infinity

const noticeDueAt = (state: State): Millis =>
  state.isNoticeDue || isEnded(state) || state.tornDown ? Infinity : state.noticeAt

/** After an end, whoever was not notified is denied, one by one. */
const denialDueAt = (state: State): Millis => (state.waiting.size > 0 ? state.endedAt : Infinity)

/** A closed waitlist has work to do until everybody has been notified. */
const teardownDueAt = (state: State): Millis =>
  state.closedAt !== Infinity && !state.tornDown && state.waiting.size === 0 ? state.lastAt : Infinity
