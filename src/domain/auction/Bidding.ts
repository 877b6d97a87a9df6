/**
 * The events of a bid. An accepted english bid leads at once, because it had to beat the lowest leading one. An
 * accepted dutch bid wins its unit at once.
 */
import { isBelow, isWhole, type Price } from "../values/Amount.ts"
import {
  AmountMissing,
  AmountNotWhole,
  BidTooHigh,
  BidTooLow,
  BidUnlikely,
  Closed,
  Full,
  GuestsRefused,
  NotOpen,
  SoldOut,
  WrongStatus
} from "../mechanism/Refusals.ts"
import { isClosed } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import { dutchPrice, maximumBid, maximumUnconfirmed, minimumBid } from "./Prices.ts"
import type { Refusal } from "./Protocol.ts"
import { biddersMax, isPending, isSoldOut, type Place, type State, statusAsOf, unitsLeft } from "./State.ts"

/** A bid; `amount` and `isConfirmed` as in the command. */
export interface Offer {
  readonly consumerId: string
  readonly isGuest?: boolean
  readonly amount?: Price
  readonly isConfirmed?: boolean
}

/** Returns the outcome of a bid at `at`. A consumer that has not entered enters with the bid. */
export const bid = (state: State, offer: Offer, at: Millis): ReadonlyArray<Event> | Refusal => {
  const { fractionDigits } = state
  if (offer.amount !== undefined && !isWhole(offer.amount, fractionDigits)) {
    return new AmountNotWhole({ amount: offer.amount, fractionDigits })
  }
  const place = state.places.get(offer.consumerId)
  return state.configuration.auctionType === "dutch"
    ? bidDutch(state, place, offer, at)
    : bidEnglish(state, place, offer, at)
}

/** Returns the refusal if the auction takes no entries and bids at `at`; `isGuest`: a guest is to enter. */
export const shut = (
  state: State,
  at: Millis,
  isGuest: boolean
): NotOpen | SoldOut | Closed | GuestsRefused | undefined => {
  const { openAt, supportsGuest = true } = state.configuration
  if (isSoldOut(state)) return new SoldOut({})
  if (isClosed(state, at)) return new Closed()
  if (isGuest && !supportsGuest) return new GuestsRefused()
  return openAt !== undefined && at < openAt ? new NotOpen({ opensAt: openAt }) : undefined
}

/** Returns the refusal while the stock has sent no unit that a bid could get. Units may come until the closing. */
const outOfUnits = (state: State): SoldOut | undefined => (unitsLeft(state) <= 0 ? new SoldOut({}) : undefined)

/** Returns the refusal if the auction is full. Places never become free. */
export const full = (state: State): Full | undefined =>
  state.places.size >= biddersMax ? new Full({ retryAfterSeconds: 60 }) : undefined

const bidEnglish = (
  state: State,
  place: Place | undefined,
  { consumerId, isGuest, amount, isConfirmed }: Offer,
  at: Millis
): ReadonlyArray<Event> | Refusal => {
  if (amount === undefined) return new AmountMissing()
  const refusal =
    shut(state, at, isGuest === true && place === undefined) ??
    unfit(state, place, at) ??
    outOfUnits(state) ??
    unfitAmount(state, place, amount, isConfirmed === true)
  if (refusal !== undefined) return refusal
  const { autoExtendSeconds, closeAt } = state.configuration
  const events = placed(place, consumerId, amount, at)
  if (place?.status !== "WINNING" && state.leading.size >= unitsLeft(state)) {
    events.push({ _tag: "Outbid", at, consumerId: state.leading.last!.consumerId })
  }
  const extendedTo = at + autoExtendSeconds * 1000
  if (extendedTo > closeAt) events.push({ _tag: "Extended", at, closeAt: extendedTo })
  return events
}

/** Returns the refusal if the auction does not accept this amount now. */
const unfitAmount = (
  state: State,
  place: Place | undefined,
  amount: Price,
  isConfirmed: boolean
): BidTooLow | BidUnlikely | BidTooHigh | undefined => {
  const minimum = minimumBid(state, place)
  if (isBelow(amount, minimum)) return new BidTooLow({ minimumBid: minimum })
  const likely = isConfirmed ? undefined : maximumUnconfirmed(state, minimum)
  if (likely !== undefined && isBelow(likely, amount)) return new BidUnlikely({ maximumBid: likely })
  const maximum = maximumBid(state, minimum)
  return isBelow(maximum, amount) ? new BidTooHigh({ maximumBid: maximum }) : undefined
}

/** Decides a dutch bid. A consumer that has a unit keeps it, however often it bids. */
const bidDutch = (
  state: State,
  place: Place | undefined,
  { consumerId, isGuest, amount }: Offer,
  at: Millis
): ReadonlyArray<Event> | Refusal => {
  if (place !== undefined && statusAsOf(state, place, at) === "WON") return []
  const refusal =
    shut(state, at, isGuest === true && place === undefined) ?? unfit(state, place, at) ?? outOfUnits(state)
  if (refusal !== undefined) return refusal
  const price = dutchPrice(state, at)
  if (amount !== undefined && isBelow(amount, price)) return new BidTooLow({ minimumBid: price })
  const events = placed(place, consumerId, price, at)
  events.push({ _tag: "Won", at, consumerId })
  if (state.winningBids.length + 1 >= state.configuration.quantity) events.push({ _tag: "Closed", at })
  return events
}

/** Returns the refusal if this consumer may not bid. */
const unfit = (state: State, place: Place | undefined, at: Millis): WrongStatus | Full | undefined => {
  if (place === undefined) return full(state)
  return isPending(place) ? undefined : new WrongStatus({ status: statusAsOf(state, place, at) })
}

const placed = (place: Place | undefined, consumerId: string, amount: Price, at: Millis): Array<Event> => {
  const bidPlaced: Event = { _tag: "BidPlaced", at, consumerId, amount }
  return place === undefined ? [{ _tag: "Entered", at, consumerId }, bidPlaced] : [bidPlaced]
}
