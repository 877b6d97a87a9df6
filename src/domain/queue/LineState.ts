/**
 * The public line of a queue as data, and the part of the queue's state for it. {@link ./Line.ts} has the rules.
 */
import { reasoned, type StaffReason } from "../mechanism/Author.ts"
import type { Millis } from "../values/Time.ts"

/** The numbers in a line. Further tickets are left out. */
export const runsMax = 20_000

/** How many of the last tickets that stopped waiting are kept, at least, for copies of the line. */
const lastGoneMax = 8_192

/** The last actions of staff that are shown. */
export const actsMax = 100

/** Something that staff did. Acts of one kind, instant and reason are one. */
export interface Act {
  readonly at: Millis
  readonly act: "admitted" | "removed" | "paused" | "resumed" | "rate"
  readonly reason?: StaffReason
  /** Consumers that were admitted, or taken out of the line. */
  readonly count?: number
  /** Of those admitted: how many were not the first that waited. */
  readonly outOfOrder?: number
  /** The new rate, a minute. */
  readonly admitRate?: number
}

/** How the tickets that no longer wait were called, since the beginning. */
export interface Tally {
  readonly byRate: number
  readonly byHand: number
  /** Of those by hand: how many were not the first that waited. */
  readonly outOfOrder: number
  readonly left: number
  /** Denied by staff, by the closing, or with their consumer's account. */
  readonly removed: number
}

export interface Line {
  /** `lobby`: no place has an order yet. `loyalty`: head starts have moved places. */
  readonly order: "arrival" | "drawn" | "lobby" | "loyalty"
  /** The last ticket. */
  readonly issued: number
  readonly waiting: number
  /** The first ticket that waits; after the last one if none does. */
  readonly next: number
  /** From `next` on: how many tickets wait, how many are gone, how many wait, and so on. Empty if `order` says why. */
  readonly runs: ReadonlyArray<number>
  /** False if tickets are left out of `runs`. */
  readonly isComplete: boolean
  readonly tally: Tally
  /** The oldest first. */
  readonly acts: ReadonlyArray<Act>
}

/** The part of a queue's state for its line. */
export interface LineState {
  issued: number
  /** Whether a head start has put a place before others. */
  isMoved: boolean
  readonly tally: { -readonly [K in keyof Tally]: Tally[K] }
  readonly acts: Array<Act>
  /** The last tickets that stopped waiting, in that order. */
  readonly lastGone: Array<number>
}

export const newLine = (): LineState => ({
  issued: 0,
  isMoved: false,
  tally: { byRate: 0, byHand: 0, outOfOrder: 0, left: 0, removed: 0 },
  acts: [],
  lastGone: []
})

/** The number of tickets that have stopped waiting. */
export const goneCount = ({ tally: { byRate, byHand, left, removed } }: LineState): number =>
  byRate + byHand + left + removed

/** Notes a ticket that stops waiting. */
export const noteLastGone = ({ lastGone }: LineState, ticket: number): void => {
  if (lastGone.length >= 2 * lastGoneMax) lastGone.splice(0, lastGoneMax)
  lastGone.push(ticket)
}

/** Notes what staff did. It is one act with the last one if only its numbers differ. */
export const noteAct = ({ acts }: LineState, act: Act): void => {
  const last = acts.at(-1)
  const isSame = last?.act === act.act && last.at === act.at && last.reason === act.reason && act.count !== undefined
  if (isSame) acts.pop()
  else if (acts.length >= actsMax) acts.shift()
  acts.push(isSame ? joined(last, act) : act)
}

const joined = (one: Act, two: Act): Act => ({
  at: one.at,
  act: one.act,
  ...reasoned(one.reason),
  count: (one.count ?? 0) + (two.count ?? 0),
  ...(one.outOfOrder !== undefined && { outOfOrder: one.outOfOrder + (two.outOfOrder ?? 0) })
})
