/** What a rehearsal led to: figures of each mechanism, from the events that happened. */
import { declarations, grantsOnEntry, type Kind } from "../mechanism/Mechanism.ts"
import type { Millis } from "../values/Time.ts"
import { type CheckedMechanism, collectsInterest } from "./CheckedDrop.ts"
import { unitsOf } from "./Units.ts"

/** An event as the history shows it. */
export interface PlayedEvent {
  readonly type: string
  readonly at: Millis
  readonly consumerId: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** What happened in one mechanism. */
export interface MechanismOutcome {
  readonly id: string
  readonly name: string
  readonly kind: Kind
  /** Units that it gives away; null if it has no such number. */
  readonly units: number | null
  /** Units of its stock that are not sold at the end; null without a stock. */
  readonly unitsLeft: number | null
  readonly people: number
  /** Grants and bookings that were made; with lapsed ones given again, more than there are units. */
  readonly granted: number
  /** People that got one. */
  readonly served: number
  readonly used: number
  readonly lapsed: number
  /** People that left before their turn. */
  readonly gaveUp: number
  /** People that were told that nothing is left for them. */
  readonly leftOut: number
  /** People that still wait at the end. */
  readonly stillWaiting: number
  /** The most units that were held or used at one time. */
  readonly mostTaken: number
  /** When the last unit was given away for good; null if one was left at the end. */
  readonly soldOutAt: Millis | null
  readonly waitSeconds: { readonly median: number; readonly p95: number; readonly longest: number } | null
  /** The most entries in one second of the clock. */
  readonly largestSecond: number
  /** Requests that were refused, by code. */
  readonly refused: Readonly<Record<string, number>>
}

/** Returns the events that give a person something. Who books has an appointment; a waitlist without offers notifies. */
const givingEvents = (mechanism: CheckedMechanism): ReadonlyArray<string> => {
  const { entries, grants }: { readonly entries: ReadonlyArray<string>; readonly grants: ReadonlyArray<string> } =
    declarations[mechanism.kind]
  if (mechanism.kind === "appointment") return entries
  return mechanism.kind === "waitlist" && collectsInterest(mechanism) ? ["Notified"] : grants
}

/** Returns what the events of a mechanism led to. `unitsLeft` are those of its stock. */
export const outcomeOf = (
  mechanism: CheckedMechanism,
  events: ReadonlyArray<PlayedEvent>,
  refused: ReadonlyMap<string, number> = new Map(),
  unitsLeft?: number
): MechanismOutcome => {
  const { id, kind, settings } = mechanism
  const units = unitsOf(mechanism)
  const tally = new Tally(kind, units, givingEvents(mechanism))
  for (const event of events) tally.add(event)
  const { counts, enteredAt, waiting, served, soldOutAt, mostTaken, seconds } = tally
  return {
    id,
    name: settings.name,
    kind,
    units: units ?? null,
    unitsLeft: unitsLeft ?? null,
    people: enteredAt.size,
    ...counts,
    served: served.size,
    stillWaiting: waiting.size,
    mostTaken,
    soldOutAt,
    waitSeconds: waitsOf(tally.waits),
    largestSecond: Math.max(0, ...seconds.values()),
    refused: Object.fromEntries(refused)
  }
}

/** Returns how long people waited, in seconds; null if nobody did. */
const waitsOf = (waits: ReadonlyArray<number>): MechanismOutcome["waitSeconds"] => {
  if (waits.length === 0) return null
  const sorted = waits.toSorted((a, b) => a - b)
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
  return { median: rank(0.5), p95: rank(0.95), longest: sorted.at(-1)! }
}

/** Counts the events of one mechanism, in their order. */
class Tally {
  readonly enteredAt = new Map<string, Millis>()
  readonly waiting = new Set<string>()
  readonly served = new Set<string>()
  readonly seconds = new Map<number, number>()
  readonly waits: Array<number> = []
  readonly counts = { granted: 0, used: 0, lapsed: 0, gaveUp: 0, leftOut: 0 }
  soldOutAt: Millis | null = null
  mostTaken = 0
  /** Who holds a unit that is not used yet. */
  private readonly holders = new Set<string>()
  private readonly kind: Kind
  private readonly units: number | undefined
  private readonly entries: ReadonlyArray<string>
  private readonly giving: ReadonlyArray<string>

  constructor(kind: Kind, units: number | undefined, giving: ReadonlyArray<string>) {
    this.kind = kind
    this.units = units
    this.entries = declarations[kind].entries
    this.giving = giving
  }

  add({ type, at, consumerId, data }: PlayedEvent): void {
    if (consumerId === null) return
    if (this.entries.includes(type)) this.enter(consumerId, at)
    if (this.giving.includes(type)) this.give(consumerId, at)
    else if (type === "Completed") this.use(consumerId)
    else if (type === "Expired" || type === "Missed") {
      this.counts.lapsed++
      this.release(consumerId)
    } else if (type === "Left" || type === "Cancelled") {
      if (this.waiting.delete(consumerId)) this.counts.gaveUp++
      this.release(consumerId)
    } else if (type === "Lost" || type === "Denied") {
      if (data["by"] === undefined && this.waiting.delete(consumerId)) this.counts.leftOut++
      this.release(consumerId)
    }
  }

  private enter(consumerId: string, at: Millis): void {
    this.enteredAt.set(consumerId, at)
    this.waiting.add(consumerId)
    const second = Math.floor(at / 1_000)
    this.seconds.set(second, (this.seconds.get(second) ?? 0) + 1)
  }

  private give(consumerId: string, at: Millis): void {
    this.counts.granted++
    this.served.add(consumerId)
    this.holders.add(consumerId)
    this.waiting.delete(consumerId)
    const isAtOnce = grantsOnEntry(this.kind) || this.kind === "appointment"
    if (!isAtOnce) this.waits.push((at - this.enteredAt.get(consumerId)!) / 1_000)
    const taken = this.holders.size + this.counts.used
    this.mostTaken = Math.max(this.mostTaken, taken)
    if (this.units !== undefined && taken >= this.units) this.soldOutAt ??= at
  }

  private use(consumerId: string): void {
    this.holders.delete(consumerId)
    this.counts.used++
  }

  private release(consumerId: string): void {
    if (this.holders.delete(consumerId)) this.soldOutAt = null
  }
}
