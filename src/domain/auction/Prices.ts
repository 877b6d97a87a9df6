/**
 * What a bid has to be. The arithmetic is exact; time counts in whole intervals.
 */
import type { Amount } from "../Amount.ts"
import type { Millis } from "../Time.ts"
import type { Bid } from "./Protocol.ts"
import { closedAsOf, type Place, type State } from "./State.ts"

/** The price of a dutch auction: it falls from `startPrice`, once in each interval since the opening, to `floorPrice`. */
export const dutchPrice = (state: State, now: Millis): Amount => {
  const { startPrice, floorPrice, priceDropAmount, priceDropIntervalSeconds, openAt } = state.configuration
  if (floorPrice === undefined || priceDropAmount === undefined || priceDropIntervalSeconds === undefined) {
    return startPrice
  }
  const elapsed = Math.min(now, closedAsOf(state, now)) - (openAt ?? state.createdAt)
  const drops = Math.max(0, Math.floor(elapsed / (priceDropIntervalSeconds * 1000)))
  const price = startPrice - BigInt(drops) * priceDropAmount
  return price > floorPrice ? price : floorPrice
}

/** The least that an english auction accepts from this bidder, or from one who has not come yet. */
export const minimumBid = (state: State, bidder: Place | undefined): Amount => {
  const { startPrice, minBidIncrement = smallest } = state.configuration
  const lowest = lowestLeadingBid(state)
  const toLead = lowest === undefined ? startPrice : lowest.amount + minBidIncrement
  const toRaise = bidder?.bid === undefined ? startPrice : bidder.bid.amount + smallest
  return toLead > toRaise ? toLead : toRaise
}

/** What is shown as the price: see `Facts`. */
export const currentPrice = (state: State, now: Millis): Amount =>
  state.configuration.auctionType === "dutch"
    ? dutchPrice(state, now)
    : (lowestLeadingBid(state)?.amount ?? state.configuration.startPrice)

/** The bid that the next one has to beat; undefined while there are units for all who lead. */
const lowestLeadingBid = ({ configuration, leading, winningBids }: State): Bid | undefined =>
  leading.size + winningBids.length >= configuration.quantity ? (leading.last?.bid ?? winningBids.at(-1)) : undefined

/** By how much one amount differs from the next. */
const smallest: Amount = 1n
