/**
 * Lets a visitor find its own position in the line of a queue, and check whether two lines contradict each other. It
 * needs lines and nothing else, so a page can run it.
 */
import type { Line, Tally } from "./LineState.ts"

/** Returns the position of a ticket: 1 for the first that waits. Undefined if it does not wait, or is left out. */
export const positionIn = ({ next, runs }: Pick<Line, "next" | "runs">, ticket: number): number | undefined => {
  let from = next
  let ahead = 0
  for (let index = 0; index < runs.length && ticket >= from; index++) {
    const run = runs[index]!
    const isWaiting = index % 2 === 0
    if (ticket < from + run) return isWaiting ? ahead + ticket - from + 1 : undefined
    if (isWaiting) ahead += run
    from += run
  }
  return undefined
}

/** A contradiction between a line and an earlier one of the same queue. */
export type Contradiction =
  /** A number went back that only grows. */
  | "NUMBERS_WENT_BACK"
  /** The tickets that no longer wait are more or fewer than the line explains. */
  | "UNEXPLAINED_TICKETS"
  /** A ticket waits that did not before. */
  | "TICKET_RETURNED"
  /** More tickets are gone behind one that still waits than left, were removed, or were admitted out of order. */
  | "OUT_OF_ORDER"

/** Compares two lines of a queue. Tickets that one of them leaves out are not compared. */
export const contradictions = (before: Line, after: Line): ReadonlyArray<Contradiction> => {
  const found: Array<Contradiction> = []
  const grows = (one: number, two: number) => one <= two
  const names = Object.keys(after.tally) as ReadonlyArray<keyof Tally>
  if (!names.every((name) => grows(before.tally[name], after.tally[name])) || !grows(before.issued, after.issued)) {
    found.push("NUMBERS_WENT_BACK")
  }
  if (after.order !== "lobby" && after.issued - after.waiting !== goneOf(after.tally)) found.push("UNEXPLAINED_TICKETS")
  if (!before.isComplete || !after.isComplete) return found
  if (before.next > after.next) found.push("TICKET_RETURNED")
  let returned = 0
  let jumped = 0
  compare(before, after, (wasWaiting, isWaiting, from, count) => {
    if (!wasWaiting && isWaiting) returned += count
    // `after.next` still waits, so a ticket that is gone behind it was not admitted in order.
    if (wasWaiting && !isWaiting && from >= after.next) jumped += count
  })
  if (returned > 0 && !found.includes("TICKET_RETURNED")) found.push("TICKET_RETURNED")
  const explained = (name: keyof Tally) => after.tally[name] - before.tally[name]
  if (jumped > explained("left") + explained("removed") + explained("outOfOrder")) found.push("OUT_OF_ORDER")
  return found
}

const goneOf = ({ byRate, byHand, left, removed }: Tally): number => byRate + byHand + left + removed

/** Visits the tickets that were issued before, in runs in which neither line changes. */
const compare = (
  before: Line,
  after: Line,
  visit: (wasWaiting: boolean, isWaiting: boolean, from: number, count: number) => void
): void => {
  const end = before.issued + 1
  const edges = [...new Set([...edgesOf(before), ...edgesOf(after), end])]
    .filter((edge) => edge <= end)
    .toSorted((a, b) => a - b)
  const [wasWaiting, isWaiting] = [readerOf(before), readerOf(after)]
  for (let index = 0; index + 1 < edges.length; index++) {
    const from = edges[index]!
    visit(wasWaiting(from), isWaiting(from), from, edges[index + 1]! - from)
  }
}

/** The tickets at which a run of the line begins, with those before `next` as the first run. */
const edgesOf = ({ next, runs }: Line): ReadonlyArray<number> => {
  const edges = [1, next]
  let from = next
  for (const run of runs) edges.push((from += run))
  return edges
}

/** Returns the function that tells whether a ticket waits. It must be asked for tickets in their order. */
const readerOf = (line: Line): ((ticket: number) => boolean) => {
  const edges = edgesOf(line)
  let index = 0
  return (ticket) => {
    while (index + 1 < edges.length && edges[index + 1]! <= ticket) index++
    return index % 2 === 1 && index + 1 < edges.length
  }
}
