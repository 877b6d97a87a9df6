/**
 * Histories: given these events, when this command, then these events. Instants are written as seconds from `start`,
 * amounts as text.
 */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Command,
  type Configuration,
  decider,
  type DenialReason,
  type Event,
  type Facts,
  type Refusal,
  type View
} from "../../../src/domain/auction/Auction.ts"
import type { State } from "../../../src/domain/auction/State.ts"
import { AdminReason } from "../../../src/domain/mechanism/Denial.ts"
import { accepted, History as Told } from "../mechanism/support/History.ts"

const isAdminReason = Schema.is(AdminReason)

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

export const salt = "00112233445566778899aabbccddeeff"

/** One unit, from 10 up by 1, open until second 60 and settled then, except for the settings given. */
export const english = (settings: Partial<Configuration> = {}): Configuration => {
  const settleAt = settings.settleAt ?? settings.closeAt ?? at(60)
  return {
    name: "Lot",
    timeZone: "UTC",
    closeAt: settleAt,
    settleAt,
    currencyCode: "EUR",
    auctionType: "english",
    quantity: 1,
    autoExtendSeconds: 0,
    startPrice: "10",
    minBidIncrement: "1",
    ...settings
  }
}

/** Two units, from 100 down to 40 by 15 every 10 seconds, except for the settings given. */
export const dutch = (settings: Partial<Configuration> = {}): Configuration => {
  const { minBidIncrement: _, ...rest } = english(settings)
  return {
    ...rest,
    auctionType: "dutch",
    quantity: 2,
    startPrice: "100",
    floorPrice: "40",
    priceDropAmount: "15",
    priceDropIntervalSeconds: 10,
    ...settings
  }
}

/** One auction and its events. */
export class History extends Told<State, Command, Event, Refusal, View> {
  constructor() {
    super(decider, { start, unitMillis: 1_000, entropy: () => salt })
  }

  /** Places bids that must be accepted, one second apart. */
  bids(seconds: number, ...offers: ReadonlyArray<readonly [consumerId: string, amount: string]>): void {
    for (const [index, [consumerId, amount]] of offers.entries()) {
      accepted(this.when(seconds + index, bid(consumerId, amount)))
    }
  }

  status(seconds: number, ...consumerIds: ReadonlyArray<string>): ReadonlyArray<string> {
    return consumerIds.map((consumerId) => this.view(seconds, consumerId).status)
  }

  facts(seconds: number): Facts {
    return decider.facts!(this.state, at(seconds))
  }

  /** Returns the handle that other bidders see for the consumer. */
  handle(consumerId: string): string {
    const view = this.view(0, consumerId)
    assert(view.status !== "NOT_BID", `${consumerId} has not entered`)
    return view.bidderHandle
  }
}

/** Returns an auction with these settings, created at `seconds`, after these events. */
export const given = (
  configuration: Configuration = english(),
  events: ReadonlyArray<Event> = [],
  seconds = 0
): History => {
  const history = new History()
  history.when(seconds, configure(configuration))
  for (const event of events) history.apply(event)
  return history
}

export const enter = (consumerId: string): Command => ({ _tag: "Enter", consumerId })
export const bid = (consumerId: string, amount?: string): Command =>
  amount === undefined ? { _tag: "Bid", consumerId } : { _tag: "Bid", consumerId, amount }
/** A bid that a consumer with a proved address has confirmed. */
export const confirmedBid = (consumerId: string, amount: string): Command => ({
  _tag: "Bid",
  consumerId,
  amount,
  isConfirmed: true
})
export const complete = (consumerId: string): Command => ({ _tag: "Complete", consumerId, by: "admin" })
export const deny = (consumerId: string): Command => ({
  _tag: "Deny",
  consumerId,
  reason: "FRAUD_DETECTED",
  by: "admin"
})
export const remove = (consumerId: string): Command => ({ _tag: "Remove", consumerId, by: "admin" })
export const end: Command = { _tag: "End", by: "admin" }
export const archive: Command = { _tag: "Archive", by: "admin" }
export const configure = (configuration: Configuration): Command => ({ _tag: "Configure", configuration, by: "admin" })

type ConsumerEvent = "Entered" | "Outbid" | "Reinstated" | "Won" | "Lost" | "Expired"

const happened =
  <Tag extends ConsumerEvent>(_tag: Tag) =>
  (seconds: number, consumerId: string): Event => ({ _tag, at: at(seconds), consumerId })

export const entered = happened("Entered")
export const outbid = happened("Outbid")
export const reinstated = happened("Reinstated")
export const won = happened("Won")
export const lost = happened("Lost")
export const expired = happened("Expired")
export const completed = (seconds: number, consumerId: string): Event => ({
  _tag: "Completed",
  at: at(seconds),
  consumerId,
  by: "admin"
})
export const placed = (seconds: number, consumerId: string, amount: string): Event => ({
  _tag: "BidPlaced",
  at: at(seconds),
  consumerId,
  amount
})
/** By hand, or with a reason of the auction's own. */
export const denied = (seconds: number, consumerId: string, reason: DenialReason = "FRAUD_DETECTED"): Event => ({
  _tag: "Denied",
  at: at(seconds),
  consumerId,
  reason,
  ...(isAdminReason(reason) && { by: "admin" })
})
export const extended = (seconds: number, closeAt: number): Event => ({
  _tag: "Extended",
  at: at(seconds),
  closeAt: at(closeAt)
})
export const ended = (seconds: number): Event => ({ _tag: "Ended", at: at(seconds), by: "admin" })
export const archived = (seconds: number): Event => ({ _tag: "Archived", at: at(seconds), by: "admin" })
export const closed = (seconds: number): Event => ({ _tag: "Closed", at: at(seconds) })
export const tornDown = (seconds: number): Event => ({ _tag: "TornDown", at: at(seconds) })
