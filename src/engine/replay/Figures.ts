/** The figures of a drop that a journal tells: who was admitted, how long people waited, and when nothing was left. */
import type { Event } from "../../domain/mechanism/Decider.ts"
import { declarations, deciders, grantsOnEntry, type Kind } from "../../domain/mechanism/Mechanism.ts"
import { standingOf } from "../../domain/mechanism/PlaceFields.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import type { AnyDecider } from "../actor/Batch.ts"

export interface Figures {
  /** Consumers that entered. */
  readonly people: number
  /** Entries, also those of one consumer again. */
  readonly entries: number
  /** Grants. */
  readonly admitted: number
  /** Grants that were used, or bookings that took place. */
  readonly used: number
  /** Grants that expired, or bookings whose consumer did not come. */
  readonly lapsed: number
  /** Those who left before their turn. */
  readonly gaveUp: number
  /** Grants or bookings that were given back. */
  readonly returned: number
  /** Those who waited until the end in vain. */
  readonly turnedAway: number
  /** Denials by staff. */
  readonly denied: number
  /** Those who wait after the last event. */
  readonly stillWaiting: number
  /** From an entry to its grant, of all grants; null if no one waited for one. */
  readonly waitSeconds: { readonly median: number; readonly p95: number; readonly longest: number } | null
  /** When the last unit was gone for the first time; null if it never was. */
  readonly soldOutAt: string | null
  /** The most of both in one second of the clock. */
  readonly largestSecond: { readonly entries: number; readonly grants: number }
}

/** Returns the figures of a journal of the kind. */
export const figuresOf = (kind: Kind, events: ReadonlyArray<Event>): Figures => {
  const count = new Count(kind)
  for (const event of events) count.take(event)
  return count.figures()
}

/** Returns the value below which the share of the sorted values lies, by the nearest rank. */
export const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!

class Count {
  readonly #kind: Kind
  readonly #decider: AnyDecider
  readonly #state: unknown
  readonly #entryTags: ReadonlyArray<string>
  readonly #grantTags: ReadonlyArray<string>
  /** When the consumers entered, and whether they wait. */
  readonly #enteredAt = new Map<string, Millis>()
  readonly #waiting = new Set<string>()
  readonly #waits: Array<number> = []
  readonly #seconds = { entries: new Map<number, number>(), grants: new Map<number, number>() }
  readonly #counts = {
    entries: 0,
    admitted: 0,
    used: 0,
    lapsed: 0,
    gaveUp: 0,
    returned: 0,
    turnedAway: 0,
    denied: 0
  }
  #soldOutAt: Millis | undefined

  constructor(kind: Kind) {
    this.#kind = kind
    this.#decider = deciders[kind]
    this.#state = this.#decider.initial()
    this.#entryTags = declarations[kind].entries
    this.#grantTags = declarations[kind].grants
  }

  take(event: Event): void {
    this.#decider.evolve(this.#state, event)
    const { consumerId } = event
    if (consumerId === undefined) return
    if (this.#entryTags.includes(event._tag)) this.#enter(consumerId, event.at)
    if (this.#grantTags.includes(event._tag)) this.#grant(consumerId, event.at)
    this.#end(event, consumerId)
    const isSoldOut = (this.#decider.unitsLeft?.(this.#state) ?? Infinity) <= 0
    if (isSoldOut) this.#soldOutAt ??= event.at
  }

  figures(): Figures {
    const waits = this.#waits.toSorted((a, b) => a - b)
    const standing = Object.entries(this.#decider.counts(this.#state))
    const stillWaiting = standing.reduce(
      (sum, [status, places]) => (standingOf(this.#kind, status) === "waiting" ? sum + places : sum),
      0
    )
    return {
      people: this.#enteredAt.size,
      ...this.#counts,
      stillWaiting,
      waitSeconds:
        waits.length === 0
          ? null
          : { median: percentile(waits, 0.5), p95: percentile(waits, 0.95), longest: waits[waits.length - 1]! },
      soldOutAt: this.#soldOutAt === undefined ? null : toText(this.#soldOutAt),
      largestSecond: { entries: largest(this.#seconds.entries), grants: largest(this.#seconds.grants) }
    }
  }

  #enter(consumerId: string, at: Millis): void {
    this.#counts.entries++
    this.#enteredAt.set(consumerId, at)
    this.#waiting.add(consumerId)
    addOne(this.#seconds.entries, at)
  }

  #grant(consumerId: string, at: Millis): void {
    this.#counts.admitted++
    this.#waiting.delete(consumerId)
    addOne(this.#seconds.grants, at)
    const enteredAt = this.#enteredAt.get(consumerId)
    if (enteredAt !== undefined && !grantsOnEntry(this.#kind)) this.#waits.push((at - enteredAt) / 1_000)
  }

  #end(event: Event & { readonly by?: string }, consumerId: string): void {
    const counts = this.#counts
    const isWaiting = this.#waiting.has(consumerId)
    switch (event._tag) {
      case "Completed":
        counts.used++
        break
      case "Expired":
      case "Missed":
        counts.lapsed++
        break
      case "Left":
        if (isWaiting) counts.gaveUp++
        else counts.returned++
        break
      case "Cancelled":
        counts.returned++
        break
      case "Lost":
        counts.turnedAway++
        break
      case "Denied":
        if (event.by === undefined) counts.turnedAway++
        else counts.denied++
        break
      default:
        return
    }
    this.#waiting.delete(consumerId)
  }
}

const addOne = (seconds: Map<number, number>, at: Millis): void => {
  const second = Math.floor(at / 1_000)
  seconds.set(second, (seconds.get(second) ?? 0) + 1)
}

const largest = (seconds: ReadonlyMap<number, number>): number => {
  let most = 0
  for (const number of seconds.values()) most = Math.max(most, number)
  return most
}
