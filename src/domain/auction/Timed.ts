/** The timed transitions of an auction. */
import { isBelow } from "../values/Amount.ts"
import { closing, type TimedTransition, type TimedTransitions } from "../mechanism/Timed.ts"
import { isGivenBack, unitRules } from "../mechanism/Units.ts"
import type { Event } from "./Event.ts"
import { isCalledOff, type Place, settlesAt, type State, unitsLeft, unitUse } from "./State.ts"

/** The outcome of the next place: of the best bid first, and of the places without a bid last. */
const settlement: TimedTransition<State, Event> = {
  dueAt: (state) => (nextToSettle(state) === undefined ? Infinity : settlesAt(state)),
  make: (state, at) => {
    const { consumerId, status, bid } = nextToSettle(state)!
    if (isCalledOff(state)) return { _tag: "Denied", at, consumerId, reason: "AUCTION_CLOSED" }
    const { reservePrice = "0" } = state.configuration
    const wins = status === "WINNING" && bid !== undefined && !isBelow(bid.amount, reservePrice)
    return wins ? { _tag: "Won", at, consumerId } : { _tag: "Lost", at, consumerId }
  }
}

const nextToSettle = ({ leading, behind }: State): Place | undefined => leading.first ?? behind.first

const expiry: TimedTransition<State, Event> = {
  dueAt: ({ expiring }) => expiring.first?.expiresAt ?? Infinity,
  make: ({ expiring }, at) => ({ _tag: "Expired", at, consumerId: expiring.first!.consumerId })
}

/** An auction that sold out, or was called off, settles at its closing; any other is not torn down before `settleAt`. */
const teardown: TimedTransition<State, Event> = {
  dueAt: (state) =>
    !state.tornDown && nextToSettle(state) === undefined && state.counts.WON === 0 && isGivenBack(state)
      ? Math.max(state.lastAt, settlesAt(state))
      : Infinity,
  make: (_, at) => ({ _tag: "TornDown", at })
}

/** A unit that came from the stock lets the next best bid lead. */
const reinstatement: TimedTransition<State, Event> = {
  dueAt: (state) => {
    const { configuration, closedAt, leading, behind, lastAt } = state
    const isDue = configuration.stockId !== undefined && closedAt === Infinity && behind.first?.status === "OUTBID"
    return isDue && leading.size < unitsLeft(state) ? lastAt : Infinity
  },
  make: ({ behind }, at) => ({ _tag: "Reinstated", at, consumerId: behind.first!.consumerId })
}

const { giving } = unitRules(unitUse)

export const timed: TimedTransitions<State, Event> = [closing, reinstatement, settlement, expiry, giving, teardown]
