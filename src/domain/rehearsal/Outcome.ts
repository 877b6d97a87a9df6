/** What a rehearsal led to: figures of each mechanism, from the events that happened. */
import { declarations, grantsOnEntry, type Kind } from "../mechanism/Mechanism.ts"
import type { Millis } from "../values/Time.ts"
import type { CheckedMechanism } from "./CheckedDrop.ts"
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
  readonly people: number
  readonly granted: number
  readonly used: number
  readonly lapsed: number
  readonly gaveUp: number
  readonly leftOut: number
  /** When as many grants were made as there are units; null if it never came to that. */
  readonly soldOutAt: Millis | null
  readonly waitSeconds: { readonly median: number; readonly p95: number; readonly longest: number } | null
  /** The most entries in one second of the clock. */
  readonly largestSecond: number
}

/** Returns what the events of a mechanism led to. */
export const outcomeOf = (mechanism: CheckedMechanism, events: ReadonlyArray<PlayedEvent>): MechanismOutcome => {
  const { id, kind, settings } = mechanism
  const { entries, grants } = declarations[kind] as {
    readonly entries: ReadonlyArray<string>
    readonly grants: ReadonlyArray<string>
  }
  const units = unitsOf(mechanism)
  const enteredAt = new Map<string, Millis>()
  const waiting = new Set<string>()
  const seconds = new Map<number, number>()
  const waits: Array<number> = []
  const counts = { granted: 0, used: 0, lapsed: 0, gaveUp: 0, leftOut: 0 }
  let soldOutAt: Millis | null = null
  for (const { type, at, consumerId, data } of events) {
    if (consumerId === null) continue
    if (entries.includes(type)) {
      enteredAt.set(consumerId, at)
      waiting.add(consumerId)
      const second = Math.floor(at / 1_000)
      seconds.set(second, (seconds.get(second) ?? 0) + 1)
    }
    if (grants.includes(type)) {
      counts.granted++
      waiting.delete(consumerId)
      if (!grantsOnEntry(kind)) waits.push((at - enteredAt.get(consumerId)!) / 1_000)
      if (units !== undefined && counts.granted >= units) soldOutAt ??= at
    }
    if (type === "Completed") counts.used++
    else if (type === "Expired" || type === "Missed") counts.lapsed++
    else if (type === "Lost" || (type === "Denied" && data["by"] === undefined)) {
      counts.leftOut++
      waiting.delete(consumerId)
    } else if (type === "Left" && waiting.delete(consumerId)) counts.gaveUp++
  }
  waits.sort((a, b) => a - b)
  const rank = (share: number) => waits[Math.max(0, Math.ceil(share * waits.length) - 1)]!
  return {
    id,
    name: settings.name,
    kind,
    units: units ?? null,
    people: enteredAt.size,
    ...counts,
    soldOutAt,
    waitSeconds: waits.length === 0 ? null : { median: rank(0.5), p95: rank(0.95), longest: waits.at(-1)! },
    largestSecond: Math.max(0, ...seconds.values())
  }
}
