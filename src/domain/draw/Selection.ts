/**
 * Finds the next consumers: in the drawn order, and among those who are denied after the end. The list of entries and
 * the drawn order follow from recorded events. They are computed in slices when they are needed: for the drawing, and
 * after a restart for the consumers who replace a winner.
 *
 * The functions that work take one slice of a few milliseconds; the others only read what has been computed.
 */
import { scoring } from "./proof/Algorithm.ts"
import { listEntries } from "./Entries.ts"
import type { Entries, Place, State } from "./State.ts"
import { sorted } from "./proof/Sort.ts"
import { stepsPerSlice, CooperativeTask } from "./CooperativeTask.ts"

/** Works on the list of entries at the closing; returns it when it is complete. */
export const workOnEntries = (state: State): Entries | undefined =>
  (state.memo.listing ??= new CooperativeTask(listEntries(state))).work()

/** Returns the list of entries at the closing; undefined while it is not complete. */
export const entriesOf = ({ memo }: State): Entries | undefined => memo.listing?.result

/** Works on the drawn order, and moves to the next consumer in it who is still ENTERED. */
export const workOnNextInOrder = (state: State): void => {
  const entries = workOnEntries(state)
  if (entries === undefined) return
  const { memo } = state
  const order = (memo.ranking ??= new CooperativeTask(rank(state, entries))).work()
  if (order === undefined) return
  for (let step = 0; step < stepsPerSlice && memo.ranked < order.length; step++) {
    if (entries.place(order[memo.ranked]!).status === "ENTERED") return
    memo.ranked++
  }
}

/** Returns the consumer who wins next; undefined if there is none, or while more work is needed. */
export const nextInOrder = ({ memo }: State): Place | undefined => {
  const entries = memo.listing?.result
  const order = memo.ranking?.result
  if (entries === undefined || order === undefined || memo.ranked >= order.length) return undefined
  const place = entries.place(order[memo.ranked]!)
  return place.status === "ENTERED" ? place : undefined
}

/** Sorts the positions of the list by the scores of their entries. Pauses after each entry. */
function* rank(state: State, entries: Entries): Generator<undefined, Uint32Array> {
  const { seed, entriesDigest, beacon } = state
  const chance = { seed, entriesDigest: entriesDigest!, beacon: beacon?.randomness ?? "" }
  const scoreOf = scoring(chance, entries.isWeighted)
  const scores = new Float64Array(entries.size)
  for (let position = 0; position < entries.size; position++) {
    scores[position] = scoreOf(entries.id(position), entries.place(position).weight)
    yield
  }
  return yield* sorted(entries.size, (a, b) => scores[a]! - scores[b]! || a - b)
}

/** Searches for a consumer who is still ENTERED; for use after the end of the draw. */
export const workOnNextStanding = ({ places, memo }: State): void => {
  for (let step = 0; step < stepsPerSlice && memo.reached?.status !== "ENTERED"; step++) {
    memo.scan ??= places.values()
    memo.reached = memo.scan.next().value
    if (memo.reached === undefined) memo.scan = undefined
  }
}

/** Returns a consumer who is still ENTERED; undefined while the search goes on. */
export const nextStanding = ({ memo }: State): Place | undefined =>
  memo.reached?.status === "ENTERED" ? memo.reached : undefined
