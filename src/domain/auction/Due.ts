/**
 * What time alone brings: the closing, the settlement, expiries and the end of it all. They come in the order of the
 * instants they are due at, and at one instant in the order written here.
 */
import { isBelow } from "../values/Amount.ts"
import type { Moment } from "../mechanism/Decider.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import { isCalledOff, type Place, settlesAt, type State } from "./State.ts"

/** The earliest transition due at or before `now`. */
export const due = (state: State, { now }: Moment): Event | undefined => {
  const closing = closingDueAt(state)
  const settlement = settlementDueAt(state)
  const expiry = expiryDueAt(state)
  const teardown = teardownDueAt(state)
  const earliest = Math.min(closing, settlement, expiry, teardown)
  if (earliest > now) return undefined
  const at = Math.max(state.lastAt, earliest)
  if (closing === earliest) return { _tag: "Closed", at }
  if (settlement === earliest) return settled(state, nextToSettle(state)!, at)
  if (expiry === earliest) return { _tag: "Expired", at, consumerId: state.expiring.first!.consumerId }
  return { _tag: "TornDown", at }
}

/** When {@link due} will next have something; undefined if never. */
export const wakeAt = (state: State): Millis | undefined => {
  const earliest = Math.min(closingDueAt(state), settlementDueAt(state), expiryDueAt(state), teardownDueAt(state))
  return earliest === Infinity ? undefined : earliest
}

const closingDueAt = (state: State): Millis => (state.closedAt === Infinity ? state.configuration.closeAt : Infinity)

const settlementDueAt = (state: State): Millis => (nextToSettle(state) === undefined ? Infinity : settlesAt(state))

const expiryDueAt = (state: State): Millis =>
  state.expiring.first === undefined ? Infinity : state.expiring.first.expiresAt

const teardownDueAt = (state: State): Millis =>
  !state.tornDown && nextToSettle(state) === undefined && state.counts.WON === 0
    ? Math.max(state.lastAt, settlesAt(state))
    : Infinity

/** Whose outcome comes next: the best bid's, and at last theirs who have not bid. */
const nextToSettle = ({ leading, behind }: State): Place | undefined => leading.first ?? behind.first

const settled = (state: State, place: Place, at: Millis): Event => {
  const { consumerId } = place
  if (isCalledOff(state)) return { _tag: "Denied", at, consumerId, reason: "AUCTION_CLOSED" }
  const { reservePrice = "0" } = state.configuration
  const wins = place.status === "WINNING" && place.bid !== undefined && !isBelow(place.bid.amount, reservePrice)
  return { _tag: wins ? "Won" : "Lost", at, consumerId }
}
