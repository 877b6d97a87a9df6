/**
 * The timed transitions of a draw.
 *
 * A win and the end of the drawing are dated when they are made, not when they were due. Otherwise a win could expire
 * while the process was down or waited for the beacon, before its consumer could know of it.
 */
import { expiry } from "../mechanism/Grants.ts"
import { closing, teardownWhen, type TimedTransition, type TimedTransitions } from "../mechanism/Timed.ts"
import { isGivenBack, unitRules } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { roundAfter } from "./proof/Beacon.ts"
import type { Event } from "./Event.ts"
import {
  entriesOf,
  nextInOrder,
  nextStanding,
  workOnEntries,
  workOnNextInOrder,
  workOnNextStanding
} from "./Selection.ts"
import { awaitsBeacon, awaitsUnits, endReason, type State, unitUse, winsLeft } from "./State.ts"

/** The closing fixes the list of entries, when the list's digest has been computed. */
const fixing: TimedTransition<State, Event> = {
  dueAt: ({ entriesDigest, overAt, closedAt }) =>
    entriesDigest === undefined && overAt === Infinity ? closedAt : Infinity,
  work: workOnEntries,
  make: (state, at) => {
    const entriesDigest = entriesOf(state)?.digest
    if (entriesDigest === undefined) return undefined
    const { beacon, drawAt } = state.configuration
    return beacon === undefined
      ? { _tag: "EntriesFixed", at, entriesDigest }
      : { _tag: "EntriesFixed", at, entriesDigest, beaconRound: roundAfter(drawAt) }
  }
}

/** After the end, the consumers who are still ENTERED are denied, one by one. */
const denial: TimedTransition<State, Event> = {
  dueAt: ({ counts, overAt }) => (counts.ENTERED > 0 ? overAt : Infinity),
  work: workOnNextStanding,
  make: (state, at) => {
    const next = nextStanding(state)
    return next && { _tag: "Denied", at, consumerId: next.consumerId, reason: endReason(state) }
  }
}

const asNoticed = (_: Millis, now: Millis): Millis => now

/** The next win, in the drawing or in place of a win that was lost. */
const win: TimedTransition<State, Event> = {
  dueAt: (state) => (winsLeft(state) > 0 ? selectionDueAt(state) : Infinity),
  noticedAt: asNoticed,
  work: workOnNextInOrder,
  make: (state, at) => {
    const next = nextInOrder(state)
    return next && { _tag: "Won", at, consumerId: next.consumerId }
  }
}

const drawingEnd: TimedTransition<State, Event> = {
  dueAt: (state) => (state.drawnAt === Infinity && winsLeft(state) <= 0 ? selectionDueAt(state) : Infinity),
  noticedAt: asNoticed,
  make: (_, at) => ({ _tag: "Drawn", at })
}

/** The teardown, when no consumer holds a win and none can win any more. */
const teardown = teardownWhen<State>(
  ({ counts, drawnAt, overAt, allocation, configuration }) =>
    (overAt !== Infinity || drawnAt !== Infinity) &&
    counts.ENTERED === 0 &&
    counts.WON === 0 &&
    isGivenBack({ allocation, configuration })
)

const { giving } = unitRules(unitUse)

export const timed: TimedTransitions<State, Event> = [
  closing,
  fixing,
  denial,
  expiry,
  win,
  drawingEnd,
  giving,
  teardown
]

/** Returns since when a win, or the end of the drawing, is due. */
const selectionDueAt = (state: State): Millis => {
  if (state.entriesDigest === undefined || state.overAt !== Infinity) return Infinity
  if (state.drawnAt !== Infinity) return state.lastAt
  if (awaitsUnits(state)) return Infinity
  return awaitsBeacon(state) === undefined ? state.configuration.drawAt : Infinity
}
