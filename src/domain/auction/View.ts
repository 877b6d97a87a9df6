/**
 * The views of an auction: a consumer's view of its place, the public facts, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { completedGrant } from "../mechanism/GrantRecord.ts"
import { isClosed } from "../mechanism/State.ts"
import { isBelow, ofText } from "../values/Amount.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { currentPrice, minimumBid } from "./Prices.ts"
import { bidsShownMax, type Facts, type Participation, type View } from "./Protocol.ts"
import { hasExpired, isCalledOff, isPending, isSoldOut, orderOf, type Place, type State, unitsLeft } from "./State.ts"

/** Returns the consumer's view of its place at `now`, deadlines already applied. */
export const view = (state: State, consumerId: string, now: Millis): View => {
  const place = state.places.get(consumerId)
  if (place === undefined) return { status: "NOT_BID", bidCount: 0 }
  const participation = participationOf(place)
  const { status, since, bid } = place
  if (isPending(place) && isCalledOff(state)) {
    return { status: "DENIED", ...participation, reason: "AUCTION_CLOSED", deniedAt: state.closedAt }
  }
  switch (status) {
    case "BIDDING":
    case "WINNING":
    case "OUTBID":
      return { status, ...participation }
    case "WON":
      return viewWon(place, participation, now)
    case "LOST":
      return { status, ...participation, lostAt: since }
    case "COMPLETED":
      return { status, ...participation, winningBidAmount: bid!.amount, completedAt: since, ...completedGrant(place) }
    case "DENIED":
      return { status, ...participation, reason: place.reason!, deniedAt: since }
  }
}

const participationOf = ({ enteredAt, bidderHandle, bidCount, bid }: Place): Participation =>
  bid === undefined
    ? { enteredAt, bidderHandle, bidCount }
    : { enteredAt, bidderHandle, bidCount, lastBidAmount: bid.amount }

const viewWon = (place: Place, participation: Participation, now: Millis): View => {
  const { since: wonAt, sequence: grantSequence, expiresAt } = place
  if (hasExpired(place, now)) {
    return { status: "DENIED", ...participation, reason: "ADMISSION_EXPIRED", deniedAt: expiresAt }
  }
  const won = { status: "WON", ...participation, winningBidAmount: place.bid!.amount, wonAt, grantSequence } as const
  return expiresAt === Infinity ? won : { ...won, expiresAt }
}

/** Returns the public facts at `now`; the reserve is not among them. */
export const facts = (state: State, now: Millis): Facts => {
  const { configuration, leading, winningBids, latestBids } = state
  const won = winningBids.slice(0, bidsShownMax)
  const auctionEnded = isSoldOut(state) || isClosed(state, now)
  return {
    currentPrice: currentPrice(state, now),
    ...(configuration.auctionType === "english" && !auctionEnded && { minimumBid: minimumBid(state, undefined) }),
    remainingQuantity: Math.max(0, unitsLeft(state)),
    auctionEnded,
    leadingBids: [...won, ...leading.head(bidsShownMax - won.length).map(({ bid }) => bid!)],
    latestBids: latestBids.toReversed()
  }
}

/** Returns the facts of the live page. */
export const liveFacts = ({ facts }: Seen<Configuration, Facts>) => ({
  currentPrice: facts.currentPrice,
  highestBid: facts.leadingBids[0] ?? null,
  minimumBid: facts.minimumBid ?? null,
  unitsLeft: facts.remainingQuantity,
  auctionEnded: facts.auctionEnded
})

/** Returns the facts that only staff may know: every leading bid, and whether the highest one reaches the reserve. */
export const staffFacts = ({ configuration: { reservePrice }, facts: { leadingBids } }: Seen<Configuration, Facts>) => {
  const highest = leadingBids[0]?.amount
  const isReserveMet = reservePrice === undefined ? null : highest !== undefined && !isBelow(highest, reservePrice)
  return { leadingBids, isReserveMet }
}

/**
 * Returns the consumer's row in the projection: the recorded status, instants as text. `bidOrder` is not shown: by it the
 * list of bids is in the order of the rules.
 */
export const place = (state: State, consumerId: string): PlaceRow | undefined => {
  const found = state.places.get(consumerId)
  if (found === undefined) return undefined
  const { status, enteredAt, since, bidderHandle, bidCount, bid, bidSequence } = found
  const bids =
    bid === undefined
      ? { bidCount }
      : { bidCount, lastBidAmount: bid.amount, bidOrder: `${orderOf(ofText(bid.amount), bidSequence)}` }
  return { status, enteredAt, updatedAt: since, fields: { bidderHandle, ...bids, ...fieldsOf(found) } }
}

const fieldsOf = ({ status, since, expiresAt, reason, bid }: Place): PlaceRow["fields"] => {
  switch (status) {
    case "BIDDING":
    case "WINNING":
    case "OUTBID":
      return {}
    case "WON": {
      const won = { winningBidAmount: bid!.amount, wonAt: toText(since) }
      return expiresAt === Infinity ? won : { ...won, expiresAt: toText(expiresAt) }
    }
    case "LOST":
      return { lostAt: toText(since) }
    case "COMPLETED":
      return { winningBidAmount: bid!.amount, completedAt: toText(since) }
    case "DENIED":
      return { reason, deniedAt: toText(since) }
  }
}
