/**
 * The public line of a queue: compact, without names, and sufficient to find the position of any ticket.
 *
 * A place gets the next ticket when it gets its order: at entry, or when the lobby opens. So tickets are in the order
 * of admission, and the set of waiting tickets describes the line. Only the head starts of loyal consumers move places;
 * after one, tickets give no positions. {@link ./LineChecks.ts} is the visitor's side.
 */
import { isInLobby, type Place, type State, type Status } from "./State.ts"
import { type Line, noteLastGone, runsMax } from "./LineState.ts"

/** Gives the place the next ticket. Called before it is in its list. */
export const issueTicket = ({ line, waiting }: State, place: Place): void => {
  place.ticket = ++line.issued
  place.joined = waiting.size + 1
}

/** Counts a place that stops waiting. Called while it is still in its list. `by` is absent if no admin did it. */
export const noteGone = ({ line, waiting }: State, place: Place, status: Status, by: string | undefined): void => {
  if (place.status !== "QUEUED" || place.ticket === 0) return
  noteLastGone(line, place.ticket)
  const { tally } = line
  if (status === "DENIED") tally.removed++
  else if (status !== "GRANTED") tally.left++
  else if (by === undefined) tally.byRate++
  else {
    tally.byHand++
    if (waiting.first !== place) tally.outOfOrder++
  }
}

/** Returns the line. Costs a look at each chunk of the list, and at each place in those from which places are gone. */
export const lineOf = (state: State): Line => {
  const { line, waiting, lobbyOpened } = state
  const order = isInLobby(state) ? "lobby" : line.isMoved ? "loyalty" : lobbyOpened ? "drawn" : "arrival"
  const isOrdered = order === "arrival" || order === "drawn"
  const runs = isOrdered ? runsOf(state) : []
  return {
    order,
    issued: line.issued,
    waiting: waiting.size,
    next: isOrdered ? (waiting.first?.ticket ?? line.issued + 1) : 0,
    runs,
    isComplete: isOrdered && runs.length < runsMax,
    tally: { ...line.tally },
    acts: [...line.acts]
  }
}

const runsOf = ({ waiting }: State): ReadonlyArray<number> => {
  const runs: Array<number> = []
  let expected = waiting.first?.ticket ?? 0
  let run = 0
  const add = (from: number, count: number): void => {
    if (from !== expected) {
      runs.push(run, from - expected)
      run = 0
    }
    run += count
    expected = from + count
  }
  waiting.eachChunk((members) => {
    const first = members[0]!.ticket
    if (members.at(-1)!.ticket - first === members.length - 1) add(first, members.length)
    else for (const { ticket } of members) add(ticket, 1)
    return runs.length < runsMax
  })
  if (run > 0) runs.push(run)
  return runs.slice(0, runsMax)
}
