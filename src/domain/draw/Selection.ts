/**
 * Who is next in the drawn order. The order follows from what is recorded, and is worked out in slices when it is needed:
 * for the drawing, and after a restart for those who take the place of a winner.
 */
import { scoring } from "./proof/Algorithm.ts"
import { listEntries } from "./Entries.ts"
import type { Entries, Place, State } from "./State.ts"
import { sorted } from "./proof/Sort.ts"
import { stepsPerSlice, CooperativeTask } from "./CooperativeTask.ts"

/** The list of entries at the closing; undefined while there is more to work out. */
export const listed = (state: State): Entries | undefined =>
  (state.memo.listing ??= new CooperativeTask(listEntries(state))).work()

/** Who wins next, if anyone is left; undefined while there is more to work out. */
export const nextInOrder = (state: State): Place | undefined => {
  const entries = listed(state)
  if (entries === undefined) return undefined
  const { memo } = state
  const order = (memo.ranking ??= new CooperativeTask(rank(state, entries))).work()
  if (order === undefined) return undefined
  for (let step = 0; step < stepsPerSlice && memo.ranked < order.length; step++) {
    const place = entries.place(order[memo.ranked]!)
    if (place.status === "ENTERED") return place
    memo.ranked++
  }
  return undefined
}

/** Sorts the entries by their scores; pauses after each. */
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

/** Someone who is still ENTERED; undefined while the search goes on. To be asked once the draw is over. */
export const nextStanding = ({ places, memo }: State): Place | undefined => {
  for (let step = 0; step < stepsPerSlice; step++) {
    if (memo.reached?.status === "ENTERED") return memo.reached
    memo.scan ??= places.values()
    memo.reached = memo.scan.next().value
    if (memo.reached === undefined) memo.scan = undefined
  }
  return undefined
}
