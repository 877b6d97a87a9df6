/**
 * What time alone brings: the closing, the end of slots that are booked, and the teardown after the last of them. They
 * come in the order of the instants they are due at, and at one instant in the order written here.
 */
import type { Moment } from "../mechanism/Decider.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { State } from "./State.ts"

/** The earliest transition due at or before `now`. */
export const due = (state: State, { now }: Moment): Event | undefined => {
  const closing = closingDueAt(state)
  const settlement = settlementDueAt(state)
  const teardown = teardownDueAt(state)
  const earliest = Math.min(closing, settlement, teardown)
  if (earliest > now) return undefined
  const at = Math.max(state.lastAt, earliest)
  if (closing === earliest) return { _tag: "Closed", at }
  if (teardown === earliest) return { _tag: "TornDown", at }
  const { status, consumerId } = state.standing.first!
  return { _tag: status === "CHECKED_IN" ? "Completed" : "Missed", at, consumerId }
}

/** When {@link due} will next have something; undefined if never. */
export const wakeAt = (state: State): Millis | undefined => {
  const earliest = Math.min(closingDueAt(state), settlementDueAt(state), teardownDueAt(state))
  return earliest === Infinity ? undefined : earliest
}

const closingDueAt = (state: State): Millis =>
  state.closedAt === Infinity ? (state.configuration.closeAt ?? Infinity) : Infinity

/** When the next slot ends that someone has booked. */
const settlementDueAt = (state: State): Millis => state.standing.first?.endTime ?? Infinity

const teardownDueAt = (state: State): Millis =>
  state.closedAt !== Infinity && !state.tornDown && state.standing.size === 0 ? state.lastAt : Infinity
