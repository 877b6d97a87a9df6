/**
 * The state of a queue, and the questions about it that its rules share.
 */
import { type Allocation, newAllocation, unitsFree } from "../mechanism/Allocation.ts"
import type { GrantRecord } from "../mechanism/GrantRecord.ts"
import { isClosed, type MechanismState, newState } from "../mechanism/State.ts"
import { IndexedList, type Chunk, type Member } from "../mechanism/IndexedList.ts"
import type { UnitUse } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import { type LineState, newLine } from "./LineState.ts"
import type { DenialReason, Pause } from "./Protocol.ts"
import { newWait, type WaitState } from "./wait/WaitState.ts"

/**
 * Most consumers in one queue: about 2 GB of heap. Further consumers are refused as in a full queue; otherwise the
 * process would run out of memory.
 */
export const placesMax = 10_000_000

/** The statuses of a place. */
export type Status = "QUEUED" | "GRANTED" | "COMPLETED" | "DENIED" | "LEFT"

/**
 * One consumer's place. There may be a million of them, so the status decides what a field means, and a place has no
 * field that no status shows.
 */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "QUEUED"
  /** Read only while DENIED. */
  reason: DenialReason | undefined = undefined
  enteredAt: Millis
  /** When the current status began. */
  since: Millis
  /** The sequence of the event that set the current status. */
  sequence: number
  /** The sort key: QUEUED, in `waiting`; GRANTED, when the grant expires (Infinity: never). */
  order: number
  /** Its number in the queue's order of admission; 0 in the lobby, whose places have none yet. */
  ticket = 0
  /** Its position when it got its ticket. */
  joined = 0
  /** Undefined before its first grant. */
  grants: GrantRecord | undefined = undefined
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
  readonly allocation: Allocation
  /** Whether the stock may still send units, as it said last. */
  mayReturn: boolean
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
  /** Grants that their consumers gave up. */
  grantsLeft: number
  /** The start of the count of admissions by rate, so that their rounding to milliseconds does not add up. */
  anchorAt: Millis
  admittedSinceAnchor: number
  lastAdmittedAt: Millis
  readonly line: LineState
  readonly wait: WaitState
  /** Undefined: the queue is not paused. */
  pause: Pause | undefined
  /** Since when the rate may admit a consumer; Infinity: it may admit none. */
  admissibleSince: Millis
}

export const initial = (): State => ({
  ...newState(unconfigured, { QUEUED: 0, GRANTED: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 }),
  allocation: newAllocation(),
  mayReturn: true,
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
  line: newLine(),
  wait: newWait(),
  pause: undefined,
  admissibleSince: Infinity
})

/** Whether the QUEUED places wait for their random order. Then none has a position, and the rate admits none. */
export const isInLobby = ({ configuration, lobbyOpened }: State): boolean =>
  !lobbyOpened && configuration.lobbyOpenAt !== undefined && configuration.openAt !== undefined

/**
 * Returns how many grants may still be made. A grant that was left counts again; configured, an expired or denied one
 * too.
 */
export const admissionsLeft = ({ configuration, grantsMade, grantsReturned, grantsLeft }: State): number => {
  const { maxAdmissions = Infinity, recycleExpiredAdmissions } = configuration
  return maxAdmissions - grantsMade + grantsLeft + (recycleExpiredAdmissions ? grantsReturned : 0)
}

/** Returns how many more grants may be live now. An `insideLimit` that was lowered takes no grant away. */
export const insideLeft = ({ configuration: { insideLimit }, counts }: State): number =>
  insideLimit === undefined ? Infinity : insideLimit - counts.GRANTED

/** Returns how many units are here that no grant holds; Infinity if the queue sells from no stock. */
export const unitsLeft = (state: State): number => unitsFree(state, state.counts.GRANTED)

/** Whether units have come, or will not, and each is held or sold now. The queue goes on when one comes. */
export const isSoldOut = (state: State): boolean =>
  unitsLeft(state) <= 0 && (state.allocation.came > 0 || !state.mayReturn)

/** Whether a unit may still come: from a grant that is live, or from the stock while grants may be made. */
export const mayUnitsReturn = (state: State): boolean =>
  state.counts.GRANTED > 0 || (state.mayReturn && admissionsLeft(state) > 0)

/** The units that consumers who wait could use. The closing denies them. */
export const unitUse: UnitUse<State> = {
  held: ({ counts }) => counts.GRANTED,
  needed: (state) =>
    state.closedAt === Infinity ? Math.min(state.waiting.size, Math.max(0, admissionsLeft(state))) : 0
}

/** Returns the place's status at `now`; deadlines whose events are not recorded yet are applied. */
export const statusAsOf = (state: State, place: Place, now: Millis): Status =>
  (place.status === "QUEUED" && isClosed(state, now)) || hasExpired(place, now) ? "DENIED" : place.status

/** Whether the place holds a grant that has expired, but whose expiry is not recorded yet. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "GRANTED" && place.order <= now
