/**
 * How each event changes an auction. An event is a fact: nothing is checked here, and an event of an unknown consumer
 * changes no place.
 */
import { ofText, type Price, wholeUpTo } from "../values/Amount.ts"
import { sha256 } from "../values/Digest.ts"
import { closingNoEarlier } from "../experience/ExperienceWindow.ts"
import { evolveUnits, noteSale } from "../mechanism/Allocation.ts"
import { noteGrant, noteRedemption } from "../mechanism/GrantRecord.ts"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { fractionDigitsOf } from "../values/Locale.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, highestBid } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import { type Bid, bidsShownMax, type DenialReason } from "./Protocol.ts"
import { orderOf, Place, type State, type Status } from "./State.ts"

export const apply = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return configure(state, event)
    case "Extended":
      return extend(state, event.closeAt)
    case "Entered":
      return enter(state, event.consumerId, event.at)
    case "UnitsCame":
    case "UnitsLeft":
    case "UnitsTaken":
      return evolveUnits(state.allocation, event)
    case "Ended":
    case "Archived":
    case "Closed":
    case "TornDown":
      return evolveLifecycle(state, event)
    default: {
      const place = state.places.get(event.consumerId)
      if (place !== undefined) change(state, place, event)
    }
  }
}

const configure = (state: State, { at, configuration, handleSalt }: Extract<Event, { _tag: "Configured" }>): void => {
  const { configured, configuration: before } = state
  state.lastSet = configuration
  record(state, configuration)
  if (handleSalt !== undefined) {
    state.createdAt = at
    state.handleSalt = handleSalt
  } else if (configuration.experienceWindow?.revision !== configured.experienceWindow?.revision) {
    const opens = (before.openAt ?? 0) > at && (state.configuration.openAt ?? 0) <= at
    if (opens) state.releasedAt = at
  }
}

const record = (state: State, configuration: Configuration): void => {
  if (configuration.currencyCode !== state.configured.currencyCode) {
    state.fractionDigits = fractionDigitsOf(configuration.currencyCode)
  }
  state.highestBid = wholeUpTo(highestBid(configuration), state.fractionDigits)
  setConfiguration(state, configuration)
}

const enter = (state: State, consumerId: string, at: Millis): void => {
  if (state.places.has(consumerId)) return
  const place = new Place(consumerId, handleOf(state, consumerId), at, state.sequence)
  state.places.set(consumerId, place)
  state.counts.BIDDING++
  state.behind.insert(place)
}

/**
 * Moves the closing. The window's closing moves too: it bounds the announced closing, not the time that late bids add.
 */
const extend = (state: State, closeAt: Millis): void => {
  const { configured } = state
  const { experienceWindow } = configured
  state.extendedTo = closeAt
  record(state, {
    ...configured,
    closeAt: Math.max(configured.closeAt, closeAt),
    settleAt: Math.max(configured.settleAt, closeAt),
    ...(experienceWindow !== undefined && { experienceWindow: closingNoEarlier(experienceWindow, closeAt) })
  })
}

type Change = Exclude<Extract<Event, { readonly consumerId: string }>, { readonly _tag: "Entered" }>

const change = (state: State, place: Place, event: Change): void => {
  switch (event._tag) {
    case "BidPlaced":
      return placeBid(state, place, event.amount, event.at)
    case "Lost":
      return move(state, place, "LOST", event.at)
    case "GrantExtended":
      return moveExpiry(state, place, event.expiresAt)
    case "Expired":
      return deny(state, place, event.at, "ADMISSION_EXPIRED")
    case "Denied":
      return deny(state, place, event.at, event.reason)
    default:
      // The other events happen to bids only.
      if (place.bid !== undefined) changeBid(state, place, place.bid, event)
  }
}

const changeBid = (
  state: State,
  place: Place,
  bid: Bid,
  event: Extract<Change, { readonly _tag: "Outbid" | "Reinstated" | "Won" | "Completed" }>
): void => {
  const { at } = event
  switch (event._tag) {
    case "Outbid":
      move(state, place, "OUTBID", at)
      return state.behind.insert(place)
    case "Reinstated":
      move(state, place, "WINNING", at)
      return state.leading.insert(place)
    case "Won":
      return win(state, place, bid, at)
    case "Completed":
      move(state, place, "COMPLETED", at)
      noteSale(state)
      return noteRedemption(place, event.redemptionId)
  }
}

const placeBid = (state: State, place: Place, amount: Price, at: Millis): void => {
  const bid = { bidderHandle: place.bidderHandle, amount, placedAt: at }
  move(state, place, "WINNING", at)
  place.bid = bid
  place.bidCount++
  place.bidSequence = state.sequence
  place.order = orderOf(ofText(amount), state.sequence)
  state.leading.insert(place)
  state.latestBids.push(bid)
  if (state.latestBids.length > bidsShownMax) state.latestBids.shift()
}

const win = (state: State, place: Place, bid: Bid, at: Millis): void => {
  const { admissionExpirationSeconds } = state.configuration
  move(state, place, "WON", at)
  state.winningBids.push(bid)
  noteGrant(place, state.sequence, expiryOf(at, admissionExpirationSeconds))
  if (admissionExpirationSeconds === undefined) return
  place.expiresAt = expiryOf(at, admissionExpirationSeconds)
  place.order = BigInt(place.expiresAt)
  state.expiring.insert(place)
}

/** Moves the expiry of a place's grant, if it holds one that expires. */
const moveExpiry = (state: State, place: Place, expiresAt: Millis): void => {
  if (place.status !== "WON" || place.expiresAt === Infinity || place.grants === undefined) return
  state.expiring.remove(place)
  place.expiresAt = expiresAt
  place.grants.expiresAt = expiresAt
  place.order = BigInt(expiresAt)
  state.expiring.insert(place)
}

const expiryOf = (at: Millis, seconds = Infinity): Millis => at + seconds * 1000

const deny = (state: State, place: Place, at: Millis, reason: DenialReason): void => {
  move(state, place, "DENIED", at)
  place.reason = reason
}

/** Removes the place from its list and gives it a new status. */
const move = (state: State, place: Place, status: Status, at: Millis): void => {
  if (place.status === "WINNING") state.leading.remove(place)
  else if (place.status === "WON") state.expiring.remove(place)
  else state.behind.remove(place)
  state.counts[place.status]--
  state.counts[status]++
  place.status = status
  place.since = at
  place.sequence = state.sequence
}

/** Returns the bidder's handle: the same for all its bids here, different in every auction, and not guessable. */
const handleOf = ({ handleSalt }: State, consumerId: string): string => sha256(handleSalt + consumerId).slice(0, 16)
