/**
 * The price of a bid. The arithmetic is exact; time counts in whole intervals. A price that was set or bid keeps its
 * notation. A computed price has as many decimals as its operands.
 */
import {
  amountMax,
  digitsOf,
  isBelow,
  ofText,
  plus,
  type Price,
  smallestOf,
  toText,
  wholeFrom,
  wholeUpTo
} from "../values/Amount.ts"
import { closedAsOf } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import { smallest } from "./Configuration.ts"
import type { Bid } from "./Protocol.ts"
import { type Place, type State, unitsLeft } from "./State.ts"

/**
 * Returns the price of a dutch auction. It falls once per interval after the opening, from `startPrice` to
 * `floorPrice`. The result is always payable: auctions created before prices had to be whole minor units round up to
 * one.
 */
export const dutchPrice = (state: State, now: Millis): Price =>
  wholeFrom(exactDutchPrice(state, now), state.fractionDigits)

const exactDutchPrice = (state: State, now: Millis): Price => {
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

/** Returns when the price began to fall: `openAt`; without it the creation, or a later opening of the experience. */
const fallsFrom = ({ configured: { openAt, experienceWindow }, createdAt, releasedAt }: State): Millis =>
  Math.max(openAt ?? createdAt, experienceWindow?.openAt ?? -Infinity, releasedAt)

/** Returns the least amount, in whole minor units, that an english auction accepts from this bidder, or from a new one. */
export const minimumBid = (state: State, bidder: Place | undefined): Price => {
  const { startPrice, minBidIncrement = smallest } = state.configuration
  const lowest = lowestLeadingBid(state)
  const toLead = lowest === undefined ? startPrice : plus(lowest.amount, minBidIncrement)
  const toRaise = bidder?.bid === undefined ? startPrice : plus(bidder.bid.amount, smallest)
  return wholeFrom(isBelow(toLead, toRaise) ? toRaise : toLead, state.fractionDigits)
}

/** Returns the greatest amount that an english auction accepts now, if `minimum` is the least. */
export const maximumBid = ({ configuration, fractionDigits, highestBid: highest }: State, minimum: Price): Price => {
  const { maxBidJump } = configuration
  if (maxBidJump === undefined) return highest
  const jumped = wholeUpTo(plus(minimum, maxBidJump), fractionDigits)
  return isBelow(jumped, highest) ? jumped : highest
}

/** How many times the least bid a bid may be without a confirmation. */
const unconfirmedFactor = 100

/** The least bid that may need a confirmation: a hundredfold of 0 or 1 says little. */
const confirmedMin = ofText("101")

/**
 * Returns the greatest amount that an english auction accepts without a confirmation, if `minimum` is the least. Undefined
 * if every amount below {@link maximumBid} is, as where the auction has a limit of its own.
 */
export const maximumUnconfirmed = (state: State, minimum: Price): Price | undefined => {
  const { maxBid, maxBidJump } = state.configuration
  if (maxBid !== undefined || maxBidJump !== undefined) return undefined
  const multiple = ofText(minimum) * BigInt(unconfirmedFactor)
  const greatest = multiple < confirmedMin ? confirmedMin - smallestOf(state.fractionDigits) : multiple
  return greatest > amountMax ? undefined : toText(greatest, digitsOf(minimum))
}

/** Returns the public price: see `Facts`. */
export const currentPrice = (state: State, now: Millis): Price =>
  state.configuration.auctionType === "dutch"
    ? dutchPrice(state, now)
    : (lowestLeadingBid(state)?.amount ?? wholeFrom(state.configuration.startPrice, state.fractionDigits))

/** Returns the bid that the next one has to beat; undefined while there is a unit for every leader. */
const lowestLeadingBid = (state: State): Bid | undefined => {
  const { leading, winningBids } = state
  return leading.size >= unitsLeft(state) ? (leading.last?.bid ?? winningBids.at(-1)) : undefined
}
