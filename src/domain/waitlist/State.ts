/**
 * The state of a waitlist, and the questions about it that its rules share.
 *
 * A member is in two lists: in the list of all members, which gives its position, and in the list of those to be
 * notified, with a {@link Wait} of its own.
 */
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { Channel } from "./Protocol.ts"

/** Most consumers in one waitlist. Further ones are refused as in a full one. */
export const placesMax = 10_000_000

/** The statuses of a place. ENTERED and NOTIFIED places are members. */
export type Status = "ENTERED" | "NOTIFIED" | "LEFT" | "DENIED"

/** One consumer's place. */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "ENTERED"
  /** When it last entered; the sort key of the members. */
  order: Millis
  /** When the current status began. */
  since: Millis
  /** When it was notified that the sequence is open; Infinity: never. */
  notifiedAt = Infinity
  /** How it was notified; undefined if no message could reach it. */
  channel: Channel | undefined = undefined
  /** Its entry in the list of members to be notified; undefined if it is not in it. */
  wait: Wait | undefined = undefined
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string, enteredAt: Millis) {
    this.consumerId = consumerId
    this.order = enteredAt
    this.since = enteredAt
  }
}

/** A member's entry in the list of those to be notified. */
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
  readonly places: Map<string, Place>
  /** All members, in the order they entered. */
  readonly members: IndexedList<Place>
  /** The members that are still to be notified, in the same order. */
  readonly waiting: IndexedList<Wait>
  /** When the sequence opens; Infinity: not known. */
  noticeAt: Millis
  /** Whether that time has come. */
  isNoticeDue: boolean
}

export const initial = (): State => ({
  ...newState(unconfigured, { ENTERED: 0, NOTIFIED: 0, LEFT: 0, DENIED: 0 }),
  places: new Map(),
  members: new IndexedList(),
  waiting: new IndexedList(),
  noticeAt: Infinity,
  isNoticeDue: false
})

/**
 * Whether an admin has ended it; then no member is notified. A waitlist that closed at its time still waits for the
 * opening.
 */
export const isEnded = ({ endedAt }: State): boolean => endedAt !== Infinity

/** Returns the place's status; a denial that is not recorded yet is applied. */
export const statusOf = (state: State, place: Place): Status =>
  place.status === "ENTERED" && isEnded(state) ? "DENIED" : place.status

/** A member to be notified. */
export interface Awaiting {
  readonly consumerId: string
  /** Since when it could have been notified. */
  readonly since: Millis
}

/** Whether members are to be notified now. */
export const areNoticesDue = (state: State): boolean => state.isNoticeDue && !isEnded(state) && state.waiting.size > 0

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
