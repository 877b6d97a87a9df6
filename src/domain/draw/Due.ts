/**
 * What time alone brings: the closing and the list it fixes, the drawing, expiries, and what follows from the end. They
 * come in the order of the instants they are due at, and at one instant in the order written here.
 *
 * A win is dated when it is made, not when it was due: its time to be used must not run out while the process was down,
 * or waited for the beacon, and nobody could know of it.
 */
import type { Moment } from "../mechanism/Decider.ts"
import type { Millis } from "../values/Time.ts"
import { roundAfter } from "./proof/Beacon.ts"
import type { Event } from "./Event.ts"
import { listed, nextInOrder, nextStanding } from "./Selection.ts"
import { awaitsBeacon, endReason, type State } from "./State.ts"

/** The earliest transition due at or before `now`; undefined also while there is more to work out for it. */
export const due = (state: State, { now }: Moment): Event | undefined => {
  const closing = closingDueAt(state)
  const fixing = fixingDueAt(state)
  const denial = denialDueAt(state)
  const expiry = expiryDueAt(state)
  const selection = selectionDueAt(state) <= now ? now : Infinity
  const teardown = teardownDueAt(state)
  const earliest = Math.min(closing, fixing, denial, expiry, selection, teardown)
  if (earliest > now) return undefined
  const at = Math.max(state.lastAt, earliest)
  if (closing === earliest) return { _tag: "Closed", at }
  if (fixing === earliest) return fixed(state, at)
  if (denial === earliest) return denied(state, at)
  if (expiry === earliest) return { _tag: "Expired", at, consumerId: state.expiring.first!.consumerId }
  if (selection === earliest) return selected(state, at)
  return { _tag: "TornDown", at }
}

/** When {@link due} will next have something to work on; undefined if never. */
export const wakeAt = (state: State): Millis | undefined => {
  const earliest = Math.min(
    closingDueAt(state),
    fixingDueAt(state),
    denialDueAt(state),
    expiryDueAt(state),
    selectionDueAt(state),
    teardownDueAt(state)
  )
  return earliest === Infinity ? undefined : earliest
}

const fixed = (state: State, at: Millis): Event | undefined => {
  const entriesDigest = listed(state)?.digest
  if (entriesDigest === undefined) return undefined
  const { beacon, drawAt } = state.configuration
  return beacon === undefined
    ? { _tag: "EntriesFixed", at, entriesDigest }
    : { _tag: "EntriesFixed", at, entriesDigest, beaconRound: roundAfter(drawAt) }
}

/** The next win, or the end of the drawing. */
const selected = (state: State, at: Millis): Event | undefined => {
  if (state.drawnAt === Infinity && winsLeft(state) === 0) return { _tag: "Drawn", at }
  const next = nextInOrder(state)
  return next === undefined ? undefined : { _tag: "Won", at, consumerId: next.consumerId }
}

const denied = (state: State, at: Millis): Event | undefined => {
  const next = nextStanding(state)
  if (next === undefined) return undefined
  return { _tag: "Denied", at, consumerId: next.consumerId, reason: endReason(state) }
}

/** Wins that may be made at this moment, while there is someone left who can win. */
const winsLeft = ({ configuration, counts, drawnAt, winsMade }: State): number => {
  const { winnerCount } = configuration
  const most = drawnAt === Infinity ? winnerCount - winsMade : winnerCount - counts.WON - counts.COMPLETED
  return Math.min(most, counts.ENTERED)
}

const closingDueAt = (state: State): Millis => (state.closedAt === Infinity ? state.configuration.closeAt : Infinity)

const fixingDueAt = (state: State): Millis =>
  state.entriesDigest === undefined && state.overAt === Infinity ? state.closedAt : Infinity

/** When a win, or the end of the drawing, is due; in the past if it has been for a while. */
const selectionDueAt = (state: State): Millis => {
  if (state.entriesDigest === undefined || state.overAt !== Infinity) return Infinity
  if (state.drawnAt === Infinity) return awaitsBeacon(state) === undefined ? state.configuration.drawAt : Infinity
  return winsLeft(state) > 0 ? state.lastAt : Infinity
}

/** After the end, whoever still stands is denied, one by one. */
const denialDueAt = (state: State): Millis => (state.counts.ENTERED > 0 ? state.overAt : Infinity)

const expiryDueAt = (state: State): Millis => state.expiring.first?.order ?? Infinity

/** When nobody holds a win, and nobody can have one any more. */
const teardownDueAt = (state: State): Millis => {
  const { closedAt, counts, drawnAt, overAt, tornDown } = state
  const isOver = overAt !== Infinity || drawnAt !== Infinity
  return closedAt !== Infinity && isOver && !tornDown && counts.ENTERED === 0 && counts.WON === 0
    ? state.lastAt
    : Infinity
}
