/**
 * The state of an auction, and the questions about it that its rules share.
 */
import type { Amount, Price } from "../values/Amount.ts"
import type { GrantRecord } from "../mechanism/GrantRecord.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { Bid, DenialReason } from "./Protocol.ts"

/** Most consumers in one auction. Further ones are refused; otherwise the process would run out of memory. */
export const biddersMax = 1_000_000

/** The statuses of a place. */
export type Status = "BIDDING" | "WINNING" | "OUTBID" | "WON" | "LOST" | "COMPLETED" | "DENIED"

/** One consumer's place. The status decides what a field means. */
export class Place implements Member<Place> {
  readonly consumerId: string
  readonly bidderHandle: string
  readonly enteredAt: Millis
  status: Status = "BIDDING"
  /** When the current status began. */
  since: Millis
  /** The sequence of the event that set the current status. */
  sequence: number
  /** The last bid; undefined before the first. */
  bid: Bid | undefined = undefined
  /** The sequence of the event that placed the last bid. */
  bidSequence = 0
  bidCount = 0
  /** Read only while DENIED. */
  reason: DenialReason | undefined = undefined
  /** Read only while WON; Infinity: never. */
  expiresAt: Millis = Infinity
  /** The sort key of the list that the place is in. */
  order: bigint
  /** Undefined before its first grant. */
  grants: GrantRecord | undefined = undefined
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string, bidderHandle: string, enteredAt: Millis, sequence: number) {
    this.consumerId = consumerId
    this.bidderHandle = bidderHandle
    this.enteredAt = enteredAt
    this.since = enteredAt
    this.sequence = sequence
    this.order = BigInt(sequence)
  }
}

export interface State extends MechanismState<Configuration, Status> {
  /** When the auction was created. */
  createdAt: Millis
  /** Digits after the point in amounts of the currency. */
  fractionDigits: number
  /** The highest bid of an english auction, in whole minor units. */
  highestBid: Price
  handleSalt: string
  /** The configuration as an admin last set it. `configured` has the times to which bids have moved it. */
  lastSet: Configuration
  /** The closing to which bids have moved it; -Infinity: none has. */
  extendedTo: Millis
  /** When a change of the experience's window opened the auction for the first time; -Infinity: none did. */
  releasedAt: Millis
  readonly places: Map<string, Place>
  /** The WINNING places, the best bid first: at most `quantity`. */
  readonly leading: IndexedList<Place>
  /** The OUTBID places, the best bid first, and behind them the BIDDING ones. */
  readonly behind: IndexedList<Place>
  /** The WON places whose grants expire, the next to expire first. */
  readonly expiring: IndexedList<Place>
  /** The bids that got a unit, the best first. */
  readonly winningBids: Array<Bid>
  /** The bids that were accepted last, the newest at the end. */
  readonly latestBids: Array<Bid>
}

export const initial = (): State => ({
  ...newState(unconfigured, { BIDDING: 0, WINNING: 0, OUTBID: 0, WON: 0, LOST: 0, COMPLETED: 0, DENIED: 0 }),
  createdAt: 0,
  fractionDigits: 2,
  highestBid: "0",
  handleSalt: "",
  lastSet: unconfigured,
  extendedTo: -Infinity,
  releasedAt: -Infinity,
  places: new Map(),
  leading: new IndexedList(),
  behind: new IndexedList(),
  expiring: new IndexedList(),
  winningBids: [],
  latestBids: []
})

/** Returns the sort key of a bid: the higher amount first, then the earlier one. Places without a bid come last. */
export const orderOf = (amount: Amount, sequence: number): bigint => BigInt(sequence) - ((amount + 1n) << 53n)

/** Whether each unit of a dutch auction has been taken. */
export const isSoldOut = ({ configuration, winningBids }: State): boolean =>
  configuration.auctionType === "dutch" && winningBids.length >= configuration.quantity

/** Returns how many units no bidder has won. */
export const unitsLeft = ({ configuration, winningBids }: State): number => configuration.quantity - winningBids.length

/** Whether an admin ended the auction before its time. Then no bidder wins. */
export const isCalledOff = (state: State): boolean => state.endedBy !== undefined

/** Returns when the waiting places get their outcome; Infinity while the auction is not closed. */
export const settlesAt = (state: State): Millis =>
  isCalledOff(state) || isSoldOut(state) ? state.closedAt : Math.max(state.closedAt, state.configuration.settleAt)

/** Whether the place still waits for the outcome. */
export const isPending = ({ status }: Place): boolean =>
  status === "BIDDING" || status === "WINNING" || status === "OUTBID"

/** Whether the place holds a grant that has expired, but whose expiry is not recorded yet. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "WON" && place.expiresAt <= now

/** Returns the place's status at `now`; deadlines whose events are not recorded yet are applied. */
export const statusAsOf = (state: State, place: Place, now: Millis): Status =>
  (isPending(place) && isCalledOff(state)) || hasExpired(place, now) ? "DENIED" : place.status
