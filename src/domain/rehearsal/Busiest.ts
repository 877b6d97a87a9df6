/** The second of a rehearsal that asks most of a server. */
import type { Millis } from "../values/Time.ts"
import type { Act } from "./Acts.ts"
import type { PlayedEvent } from "./Outcome.ts"

/** What people's browsers do in one second. */
export interface BusySecond {
  readonly at: Millis
  /** Entries, bids and bookings. */
  readonly entries: number
  /** Places that changed without an act of their own, which each page then reads. */
  readonly reads: number
  /** People that come for the first time. Each gets a session. */
  readonly sessions: number
}

/** Events that people bring about themselves. */
const own = new Set(["Entered", "BidPlaced", "Booked", "Rescheduled", "Left", "Cancelled", "Completed", "CheckedIn"])

/** Returns the second with the most entries, reads and sessions together; undefined if nothing happened. */
export const busiestOf = (
  acts: ReadonlyArray<Act>,
  events: ReadonlyArray<ReadonlyArray<PlayedEvent>>
): BusySecond | undefined => {
  const seconds = new Map<number, { at: Millis; entries: number; reads: number; sessions: number }>()
  const count = (at: Millis, what: "entries" | "reads" | "sessions"): void => {
    const second = Math.floor(at / 1_000)
    const found = seconds.get(second) ?? { at: second * 1_000, entries: 0, reads: 0, sessions: 0 }
    found[what]++
    seconds.set(second, found)
  }
  const firstAt = new Map<number, Millis>()
  for (const { at, person, deed } of acts) {
    if (deed === "leave" || deed === "use") continue
    count(at, "entries")
    firstAt.set(person, Math.min(at, firstAt.get(person) ?? Infinity))
  }
  for (const at of firstAt.values()) count(at, "sessions")
  for (const { at, type, consumerId } of events.flat()) if (consumerId !== null && !own.has(type)) count(at, "reads")
  const total = ({ entries, reads, sessions }: BusySecond): number => entries + reads + sessions
  let busiest: BusySecond | undefined
  for (const second of seconds.values()) if (busiest === undefined || total(second) > total(busiest)) busiest = second
  return busiest
}
