/**
 * What a bid has to be. The arithmetic is exact; time counts in whole intervals. A price that was set or bid stays as it was
 * written; one that is worked out has as many digits after the point as those it comes from.
 */
import { digitsOf, isBelow, ofText, plus, type Price, toText } from "../values/Amount.ts"
import type { Millis } from "../values/Time.ts"
import type { Bid } from "./Protocol.ts"
import { closedAsOf, type Place, type State } from "./State.ts"

/** The price of a dutch auction: it falls from `startPrice`, once in each interval since the opening, to `floorPrice`. */
export const dutchPrice = (state: State, now: Millis): Price => {
  const { startPrice, floorPrice, priceDropAmount, priceDropIntervalSeconds } = state.configuration
  if (floorPrice === undefined || priceDropAmount === undefined || priceDropIntervalSeconds === undefined) {
    return startPrice
  }
  const elapsed = Math.min(now, closedAsOf(state, now)) - fallsFrom(state)
  const drops = Math.max(0, Math.floor(elapsed / (priceDropIntervalSeconds * 1000)))
  if (drops === 0) return startPrice
  const price = ofText(startPrice) - BigInt(drops) * ofText(priceDropAmount)
  if (price <= ofText(floorPrice)) return floorPrice
  return toText(price, Math.max(digitsOf(startPrice), digitsOf(priceDropAmount)))
}

/** Since when the price falls: the opening. Without an `openAt` that is the creation, or when the experience opened later. */
const fallsFrom = ({ configured: { openAt, experienceWindow }, createdAt, releasedAt }: State): Millis =>
  Math.max(openAt ?? createdAt, experienceWindow?.openAt ?? -Infinity, releasedAt)

/** The least that an english auction accepts from this bidder, or from one who has not come yet. */
export const minimumBid = (state: State, bidder: Place | undefined): Price => {
  const { startPrice, minBidIncrement = smallest } = state.configuration
  const lowest = lowestLeadingBid(state)
  const toLead = lowest === undefined ? startPrice : plus(lowest.amount, minBidIncrement)
  const toRaise = bidder?.bid === undefined ? startPrice : plus(bidder.bid.amount, smallest)
  return isBelow(toLead, toRaise) ? toRaise : toLead
}

/** What is shown as the price: see `Facts`. */
export const currentPrice = (state: State, now: Millis): Price =>
  state.configuration.auctionType === "dutch"
    ? dutchPrice(state, now)
    : (lowestLeadingBid(state)?.amount ?? state.configuration.startPrice)

/** The bid that the next one has to beat; undefined while there are units for all who lead. */
const lowestLeadingBid = ({ configuration, leading, winningBids }: State): Bid | undefined =>
  leading.size + winningBids.length >= configuration.quantity ? (leading.last?.bid ?? winningBids.at(-1)) : undefined

/** By how much one amount differs from the next. */
const smallest: Price = toText(1n)
