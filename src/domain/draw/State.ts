/**
 * Everything a draw knows, and the questions about it that its rules share.
 */
import { sha256 } from "../values/Digest.ts"
import * as Lifecycle from "../mechanism/Lifecycle.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { Millis } from "../values/Time.ts"
import { idLength, weightMin } from "./proof/Algorithm.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { DenialReason } from "./Protocol.ts"
import type { CooperativeTask } from "./CooperativeTask.ts"

/** What a place can be in. Whoever LEFT counts as one who never entered, but for the record. */
export type Status = "ENTERED" | "WON" | "COMPLETED" | "DENIED" | "LEFT"

/**
 * One consumer's standing. There may be a million of them, so a field means what the status makes of it, and nothing
 * is kept that the status does not show.
 */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "ENTERED"
  /** Read only while DENIED. */
  reason: DenialReason | undefined = undefined
  enteredAt: Millis
  /** When the present status began. */
  since: Millis
  /** The sequence of the event that brought the present status. */
  sequence: number
  /** The sequence of the event that made the entry, from which its id is made; 0: it is not in the list of entries. */
  entry: number
  /** In millionths. */
  weight: number
  /** While WON: when the win expires; Infinity: never. */
  order: number = Infinity
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string, enteredAt: Millis, sequence: number, weight: number) {
    this.consumerId = consumerId
    this.enteredAt = enteredAt
    this.since = enteredAt
    this.sequence = sequence
    this.entry = sequence
    this.weight = weight
  }
}

/** What was worked out of the state and can be again at any time; never recorded. */
export interface Memo {
  /** The list of entries; begun when entry has closed. */
  listing: CooperativeTask<Entries> | undefined
  /** The drawn order: positions in the list; begun when the drawing is due. */
  ranking: CooperativeTask<Uint32Array> | undefined
  /** How many of the drawn order have been looked at: who stands before has won, or cannot. */
  ranked: number
  /** Goes through the places after the end, to find those whose denial is to be recorded. */
  scan: IterableIterator<Place> | undefined
  /** Whom the sweep has reached. */
  reached: Place | undefined
}

/** The list of entries as it stands when entry has closed. */
export interface Entries {
  readonly size: number
  /** SHA-256 of the list; see Algorithm. */
  readonly digest: string
  /** Whether there are different weights. */
  readonly isWeighted: boolean
  /** The place at a position of the list, from 0; the list is sorted by the entries' ids. */
  readonly place: (position: number) => Place
  readonly id: (position: number) => string
}

export interface State extends MechanismState<Configuration, Status> {
  /** 32 and 16 bytes in hex. */
  seed: string
  salt: string
  readonly places: Map<string, Place>
  /** Undefined until the list is fixed. */
  entriesDigest: string | undefined
  /** The round that the drawing waits for, if it waits for one; known once the list is fixed. */
  beaconRound: number | undefined
  beacon: { readonly randomness: string; readonly signature: string } | undefined
  winsMade: number
  /** The entries that were drawn, in the drawn order; without those who took the place of one of them. */
  readonly winners: Array<number>
  /** The entries of the list that left, or were denied, before they were drawn or the drawing was over. */
  readonly withdrawn: Array<number>
  /** When the drawing was recorded; Infinity: it is not. */
  drawnAt: Millis
  /** From when on nobody more can win; Infinity: someone still can. */
  overAt: Millis
  /** The WON places that expire, the next to expire first. */
  readonly expiring: IndexedList<Place>
  readonly memo: Memo
}

export const initial = (): State => ({
  ...newState(unconfigured, { ENTERED: 0, WON: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 }),
  seed: "",
  salt: "",
  places: new Map(),
  entriesDigest: undefined,
  beaconRound: undefined,
  beacon: undefined,
  winsMade: 0,
  winners: [],
  withdrawn: [],
  drawnAt: Infinity,
  overAt: Infinity,
  expiring: new IndexedList(),
  memo: { listing: undefined, ranking: undefined, ranked: 0, scan: undefined, reached: undefined }
})

/** An entry's name in the list: it tells nobody which consumer's it is who does not know the salt. */
export const entryIdOf = ({ salt }: State, entry: number): string => sha256(`${salt}:${entry}`).slice(0, idLength)

/** What a loyalty score of 0 to 1 makes of an entry, in millionths. */
export const weightOf = ({ configuration }: State, loyaltyScore: number): number =>
  configuration.loyaltyBiasEnabled
    ? weightMin + Math.round(loyaltyScore * configuration.loyaltyWeight * 1_000_000)
    : weightMin

/** Whether entry has closed at `now`, whether or not its event was applied yet. */
export const isClosed = (state: State, now: Millis): boolean =>
  Lifecycle.closedAsOf(state, state.configuration.closeAt, now) !== Infinity

/** The first wins are being recorded: what has begun is finished, whatever else happens. */
export const isDrawing = ({ winsMade, drawnAt }: State): boolean => winsMade > 0 && drawnAt === Infinity

/**
 * The round of the beacon without which the draw is not drawn, and which it does not have yet; undefined if it waits for
 * none. It is known from the closing on, and published after `drawAt`.
 */
export const awaitsBeacon = ({ beacon, beaconRound, overAt }: State): number | undefined =>
  beacon === undefined && overAt === Infinity ? beaconRound : undefined

/** Why whoever is ENTERED when the draw is over gets nothing. */
export const endReason = ({ drawnAt }: State): DenialReason => (drawnAt === Infinity ? "DRAW_CLOSED" : "NOT_SELECTED")

/** The place's status at `now`, deadlines that nobody has noticed yet already applied. */
export const statusAsOf = (state: State, place: Place, now: Millis): Status =>
  (place.status === "ENTERED" && state.overAt <= now) || hasExpired(place, now) ? "DENIED" : place.status

/** Whether the place holds a win whose time is over, without its event having been applied. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "WON" && place.order <= now
