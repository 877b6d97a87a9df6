/**
 * Everything a queue knows, and the questions about it that its rules share.
 */
import * as Lifecycle from "../mechanism/Lifecycle.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { IndexedList, type Chunk, type Member } from "../mechanism/IndexedList.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { DenialReason } from "./Protocol.ts"

/**
 * Most consumers one queue ever knows: about 2 GB of heap. Whoever comes beyond is refused as in a full queue, rather than
 * the process lost with everyone in it.
 */
export const placesMax = 10_000_000

/** What a place can be in. */
export type Status = "QUEUED" | "GRANTED" | "COMPLETED" | "DENIED" | "LEFT"

/**
 * One consumer's standing. There may be a million of them, so a field means what the status makes of it, and nothing
 * is kept that the status does not show.
 */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "QUEUED"
  /** Read only while DENIED. */
  reason: DenialReason | undefined = undefined
  enteredAt: Millis
  /** When the present status began. */
  since: Millis
  /** The sequence of the event that brought the present status. */
  sequence: number
  /** By what the place is sorted: QUEUED, in the waiting line; GRANTED, when the grant expires (Infinity: never). */
  order: number
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string, enteredAt: Millis, sequence: number, order: number) {
    this.consumerId = consumerId
    this.enteredAt = enteredAt
    this.since = enteredAt
    this.sequence = sequence
    this.order = order
  }
}

export interface State extends MechanismState<Configuration, Status> {
  readonly places: Map<string, Place>
  /** The QUEUED places in the order of their admission; until the lobby is opened, in the order they came. */
  readonly waiting: IndexedList<Place>
  /** The GRANTED places that expire, the next to expire first. */
  readonly expiring: IndexedList<Place>
  /** Whether the lobby was opened; stays false without a lobby. */
  lobbyOpened: boolean
  grantsMade: number
  /** Grants that expired or were denied. */
  grantsReturned: number
  /** Grants that their consumers left. */
  grantsLeft: number
  /** The admissions by rate are counted from here, so that their rounding to milliseconds does not add up. */
  anchorAt: Millis
  admittedSinceAnchor: number
  lastAdmittedAt: Millis
  /** Since when there is someone whom the rate may admit; Infinity: there is nobody. */
  admissibleSince: Millis
}

export const initial = (): State => ({
  ...newState(unconfigured, { QUEUED: 0, GRANTED: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 }),
  places: new Map(),
  waiting: new IndexedList(),
  expiring: new IndexedList(),
  lobbyOpened: false,
  grantsMade: 0,
  grantsReturned: 0,
  grantsLeft: 0,
  anchorAt: -Infinity,
  admittedSinceAnchor: 0,
  lastAdmittedAt: -Infinity,
  admissibleSince: Infinity
})

/** Whether the QUEUED wait for their random order; then none has a position, and the rate admits none. */
export const isInLobby = ({ configuration, lobbyOpened }: State): boolean =>
  !lobbyOpened && configuration.lobbyOpenAt !== undefined && configuration.openAt !== undefined

/** The closing as it stands at `now`, whether or not its event was applied yet; Infinity if the queue is not closed. */
export const closedAsOf = (state: State, now: Millis): Millis =>
  Lifecycle.closedAsOf(state, state.configuration.closeAt, now)

export const isClosed = (state: State, now: Millis): boolean => closedAsOf(state, now) !== Infinity

/** Grants that may still be made: what a consumer left is given back, what expired or was denied only where it is set so. */
export const admissionsLeft = ({ configuration, grantsMade, grantsReturned, grantsLeft }: State): number => {
  const { maxAdmissions = Infinity, recycleExpiredAdmissions } = configuration
  return maxAdmissions - grantsMade + grantsLeft + (recycleExpiredAdmissions ? grantsReturned : 0)
}

/** The place's status at `now`, deadlines that nobody has noticed yet already applied. */
export const statusAsOf = (state: State, place: Place, now: Millis): Status =>
  (place.status === "QUEUED" && isClosed(state, now)) || hasExpired(place, now) ? "DENIED" : place.status

/** Whether the place holds a grant whose time is over, without its event having been applied. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "GRANTED" && place.order <= now
