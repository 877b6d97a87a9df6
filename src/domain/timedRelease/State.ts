/**
 * The state of a timed release, and the questions about it that its rules share.
 */
import { type Allocation, newAllocation, unitsFree } from "../mechanism/Allocation.ts"
import type { GrantRecord } from "../mechanism/GrantRecord.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { UnitUse } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { DenialReason } from "./Protocol.ts"

/** Most consumers in one timed release. Further ones are refused as if every unit were sold. */
export const placesMax = 10_000_000

/** The statuses of a place. */
export type Status = "ENTERED" | "COMPLETED" | "DENIED" | "EXPIRED" | "LEFT"

/** One consumer's place. There may be millions of them, so a place has no field that no status shows. */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "ENTERED"
  /** Read only while DENIED. */
  reason: DenialReason | undefined = undefined
  /** The selected variant. */
  variantId: string | undefined = undefined
  enteredAt: Millis
  /** When it last changed. */
  since: Millis
  /** When the grant expires or has expired; Infinity: never. */
  order = Infinity
  /** Undefined before its first grant. */
  grants: GrantRecord | undefined = undefined
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string, enteredAt: Millis) {
    this.consumerId = consumerId
    this.enteredAt = enteredAt
    this.since = enteredAt
  }
}

export interface State extends MechanismState<Configuration, Status> {
  readonly allocation: Allocation
  /** The variants of the configuration; undefined: those that the experience offers. */
  offered: ReadonlySet<string> | undefined
  readonly places: Map<string, Place>
  /** Grants that were completed. A consumer may take part again after one, and its unit stays sold. */
  unitsSold: number
  /** The ENTERED places that expire, the next to expire first. */
  readonly expiring: IndexedList<Place>
}

export const initial = (): State => ({
  ...newState(unconfigured, { ENTERED: 0, COMPLETED: 0, DENIED: 0, EXPIRED: 0, LEFT: 0 }),
  allocation: newAllocation(),
  offered: undefined,
  places: new Map(),
  unitsSold: 0,
  expiring: new IndexedList()
})

/** Returns how many units are neither held nor sold. A grant whose expiry is not recorded yet still holds its unit. */
export const unitsLeft = (state: State): number => {
  const { configuration, counts, unitsSold } = state
  const { capacity = Infinity } = configuration
  return Math.min(capacity - counts.ENTERED - unitsSold, unitsFree(state, counts.ENTERED))
}

/** Nobody waits: who comes takes a unit. */
export const unitUse: UnitUse<State> = { held: ({ counts }) => counts.ENTERED, needed: () => 0, isShelf: true }

/** Returns the place's status at `now`; an expiry that is not recorded yet is applied. */
export const statusAsOf = (place: Place, now: Millis): Status => (hasExpired(place, now) ? "EXPIRED" : place.status)

/** Whether the place holds a grant that has expired, but whose expiry is not recorded yet. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "ENTERED" && place.order <= now
