/**
 * The state of a waitlist, and the questions about it that its rules share.
 *
 * A member is in two lists: in the list of all members, which gives its position, and in the list of those to be
 * notified, with a {@link Wait} of its own.
 */
import { type Allocation, newAllocation, unitsFree } from "../mechanism/Allocation.ts"
import type { GrantRecord } from "../mechanism/GrantRecord.ts"
import { isClosed, type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { UnitUse } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { Channel, DenialReason } from "./Protocol.ts"

/** Most consumers in one waitlist. Further ones are refused as in a full one. */
export const placesMax = 10_000_000

/** The statuses of a place. ENTERED and NOTIFIED places are members. */
export type Status = "ENTERED" | "NOTIFIED" | "OFFERED" | "COMPLETED" | "EXPIRED" | "LEFT" | "DENIED"

/** One consumer's place. */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "ENTERED"
  /** Read only while DENIED; undefined: the end of the waitlist denied it. */
  reason: DenialReason | undefined = undefined
  /** When it last entered. */
  enteredAt: Millis
  /** The sort key: of members, when they entered; of other places, when the offer expires or has expired. */
  order: Millis
  /** When the current status began. */
  since: Millis
  /** When it was notified that the sequence is open; Infinity: never. */
  notifiedAt = Infinity
  /** How it was notified; undefined if no message could reach it. */
  channel: Channel | undefined = undefined
  /** Undefined before its first offer. */
  grants: GrantRecord | undefined = undefined
  /** Its entry in the list of members to be notified or offered a unit; undefined if it is not in it. */
  wait: Wait | undefined = undefined
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string, enteredAt: Millis) {
    this.consumerId = consumerId
    this.enteredAt = enteredAt
    this.order = enteredAt
    this.since = enteredAt
  }
}

/** A member's entry in the list of those to be notified or offered a unit. */
export class Wait implements Member<Wait> {
  readonly place: Place
  readonly order: Millis
  chunk: Chunk<Wait> | undefined = undefined

  constructor(place: Place) {
    this.place = place
    this.order = place.order
  }
}

export interface State extends MechanismState<Configuration, Status> {
  readonly allocation: Allocation
  readonly places: Map<string, Place>
  /** All members, in the order they entered. */
  readonly members: IndexedList<Place>
  /** The members that are still to be notified or offered a unit, in the same order. */
  readonly waiting: IndexedList<Wait>
  /** The OFFERED places that expire, the next to expire first. */
  readonly expiring: IndexedList<Place>
  /** When the sequence opens; Infinity: not known. */
  noticeAt: Millis
  /** Whether that time has come. */
  isNoticeDue: boolean
}

export const initial = (): State => ({
  ...newState(unconfigured, { ENTERED: 0, NOTIFIED: 0, OFFERED: 0, COMPLETED: 0, EXPIRED: 0, LEFT: 0, DENIED: 0 }),
  allocation: newAllocation(),
  places: new Map(),
  members: new IndexedList(),
  waiting: new IndexedList(),
  expiring: new IndexedList(),
  noticeAt: Infinity,
  isNoticeDue: false
})

/**
 * Whether an admin has ended it; then no member is notified. A waitlist that closed at its time still waits for the
 * opening.
 */
export const isEnded = ({ endedAt }: State): boolean => endedAt !== Infinity

/** Whether members wait for units of a stock, and not for the opening. */
export const isOffering = ({ configuration }: State): boolean => configuration.offers === true

/** Whether no member that waits gets what it waits for. The closing ends offers; a notice still comes after it. */
const isInVain = (state: State, now: Millis): boolean => (isOffering(state) ? isClosed(state, now) : isEnded(state))

/** Returns the place's status at `now`; deadlines whose events are not recorded yet are applied. */
export const statusAsOf = (state: State, place: Place, now: Millis): Status => {
  if (place.status === "ENTERED" && isInVain(state, now)) return "DENIED"
  return place.status === "OFFERED" && place.order <= now ? "EXPIRED" : place.status
}

/** Returns how many units can be offered now. */
export const unitsToOffer = (state: State): number =>
  isOffering(state) && state.closedAt === Infinity ? unitsFree(state, state.counts.OFFERED) : 0

/** The units that members could be offered. */
export const unitUse: UnitUse<State> = {
  held: ({ counts }) => counts.OFFERED,
  needed: (state) => (state.closedAt === Infinity ? state.waiting.size : 0)
}

/** A member to be notified. */
export interface Awaiting {
  readonly consumerId: string
  /** Since when it could have been notified. */
  readonly since: Millis
}

/** Whether members are to be notified now. */
export const areNoticesDue = (state: State): boolean =>
  state.isNoticeDue && !isOffering(state) && !isEnded(state) && state.waiting.size > 0

/** Returns the first `count` members to be notified now that are not in `except`; undefined if there are none. */
export const awaitingNotice = (
  state: State,
  count: number,
  except: ReadonlySet<string>
): ReadonlyArray<Awaiting> | undefined => {
  if (!areNoticesDue(state)) return undefined
  const awaiting = state.waiting
    .head(count + except.size)
    .filter(({ place }) => !except.has(place.consumerId))
    .slice(0, count)
    .map(({ place, order }) => ({ consumerId: place.consumerId, since: Math.max(state.noticeAt, order) }))
  return awaiting.length === 0 ? undefined : awaiting
}
