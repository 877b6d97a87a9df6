/**
 * The state of a timed release, and the questions about it that its rules share.
 */
import type { GrantRecord } from "../mechanism/GrantRecord.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
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
  offered: undefined,
  places: new Map(),
  unitsSold: 0,
  expiring: new IndexedList()
})

/** Returns how many units are neither held nor sold. A grant whose expiry is not recorded yet still holds its unit. */
export const unitsLeft = ({ configuration, counts, unitsSold }: State): number =>
  (configuration.capacity ?? Infinity) - counts.ENTERED - unitsSold

/** Returns the place's status at `now`; an expiry that is not recorded yet is applied. */
export const statusAsOf = (place: Place, now: Millis): Status => (hasExpired(place, now) ? "EXPIRED" : place.status)

/** Whether the place holds a grant that has expired, but whose expiry is not recorded yet. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "ENTERED" && place.order <= now
