/**
 * What time alone brings: the closing, expiries and the teardown. They come in the order of the instants they are due
 * at, and at one instant in the order written here.
 */
import type { Moment } from "../mechanism/Decider.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { State } from "./State.ts"

/** The earliest transition due at or before `now`. */
export const due = (state: State, { now }: Moment): Event | undefined => {
  const closing = closingDueAt(state)
  const expiry = expiryDueAt(state)
  const earliest = Math.min(closing, expiry, teardownDueAt(state))
  if (earliest > now) return undefined
  const at = Math.max(state.lastAt, earliest)
  if (closing === earliest) return { _tag: "Closed", at }
  if (expiry === earliest) return { _tag: "Expired", at, consumerId: state.expiring.first!.consumerId }
  return { _tag: "TornDown", at }
}

/** When {@link due} will next have something; undefined if never. */
export const wakeAt = (state: State): Millis | undefined => {
  const earliest = Math.min(closingDueAt(state), expiryDueAt(state), teardownDueAt(state))
  return earliest === Infinity ? undefined : earliest
}

const closingDueAt = (state: State): Millis =>
  state.closedAt === Infinity ? (state.configuration.closeAt ?? Infinity) : Infinity

const expiryDueAt = (state: State): Millis => state.expiring.first?.order ?? Infinity

const teardownDueAt = (state: State): Millis =>
  state.closedAt !== Infinity && !state.tornDown && state.counts.ENTERED === 0 ? state.lastAt : Infinity
