/**
 * The state of a draw, and the questions about it that its rules share.
 */
import { sha256 } from "../values/Digest.ts"
import { type Allocation, newAllocation, unitsFree } from "../mechanism/Allocation.ts"
import type { GrantRecord } from "../mechanism/GrantRecord.ts"
import { type MechanismState, newState } from "../mechanism/State.ts"
import { type Chunk, IndexedList, type Member } from "../mechanism/IndexedList.ts"
import type { UnitUse } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { riskFactor } from "../risk/RiskWeight.ts"
import type { Risk } from "../risk/Risk.ts"
import { idLength, weightMin, weightsWithRisk } from "./proof/Algorithm.ts"
import { type Configuration, unconfigured } from "./Configuration.ts"
import type { DenialReason } from "./Protocol.ts"
import type { CooperativeTask } from "./CooperativeTask.ts"

/** The statuses of a place. For consumers, LEFT is the same as never having entered. */
export type Status = "ENTERED" | "WON" | "COMPLETED" | "DENIED" | "LEFT"

/**
 * One consumer's place. There may be a million of them, so the status decides what a field means, and a place has no
 * field that no status shows.
 */
export class Place implements Member<Place> {
  readonly consumerId: string
  status: Status = "ENTERED"
  /** Read only while DENIED. */
  reason: DenialReason | undefined = undefined
  enteredAt: Millis
  /** When the current status began. */
  since: Millis
  /** The sequence of the event that set the current status. */
  sequence: number
  /** The sequence of the entry's event, from which the entry's id is made; 0: it is not in the list of entries. */
  entry: number
  /** In millionths. */
  weight: number
  /** While WON: when the win expires; Infinity: never. */
  order: number = Infinity
  /** Undefined before its first grant. */
  grants: GrantRecord | undefined = undefined
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

/** Computed from the state, and can be computed again at any time; never recorded. */
export interface Memo {
  /** The list of entries; started when entry has closed. */
  listing: CooperativeTask<Entries> | undefined
  /** The drawn order, as positions in the list; started when the drawing is due. */
  ranking: CooperativeTask<Uint32Array> | undefined
  /** Places at the head of the drawn order that have won, or cannot win. */
  ranked: number
  /** Iterates over the places after the end, to find those whose denial is to be recorded. */
  scan: IterableIterator<Place> | undefined
  /** The place that the iteration has reached. */
  reached: Place | undefined
}

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
  readonly allocation: Allocation
  /** 32 and 16 bytes in hex. */
  seed: string
  salt: string
  readonly places: Map<string, Place>
  /** Undefined until the list is fixed. */
  entriesDigest: string | undefined
  /** The round that the drawing waits for, if it waits for one; known once the list is fixed. */
  beaconRound: number | undefined
  beacon: { readonly randomness: string; readonly signature: string; readonly isSimulated?: true } | undefined
  winsMade: number
  /** The entries that were drawn, in the drawn order; without those that took the place of one of them. */
  readonly winners: Array<number>
  /** The listed entries that left or were denied before they were drawn, or before the drawing was complete. */
  readonly withdrawn: Array<number>
  /** When the drawing was recorded; Infinity: it is not. */
  drawnAt: Millis
  /** The instant from which no consumer can win; Infinity while some still can. */
  overAt: Millis
  /** The WON places that expire, the next to expire first. */
  readonly expiring: IndexedList<Place>
  readonly memo: Memo
}

export const initial = (): State => ({
  ...newState(unconfigured, { ENTERED: 0, WON: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 }),
  allocation: newAllocation(),
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

/** Returns an entry's id in the list. Without the salt, the id does not reveal the consumer. */
export const entryIdOf = ({ salt }: State, entry: number): string => sha256(`${salt}:${entry}`).slice(0, idLength)

/** Returns the weight of an entry with a loyalty score of 0 to 1, as the list of entries has it. */
export const weightOf = (
  { configuration: { loyaltyBiasEnabled, loyaltyWeight, riskWeight = 0 } }: State,
  { loyaltyScore = 0, risk }: { readonly loyaltyScore?: number; readonly risk?: Risk }
): number => {
  const weight = loyaltyBiasEnabled ? weightMin + Math.round(loyaltyScore * loyaltyWeight * 1_000_000) : weightMin
  return riskWeight === 0 ? weight : Math.round(weight * weightsWithRisk * riskFactor(riskWeight, risk))
}

/** Whether the first wins are being recorded. A drawing that has begun is always finished. */
export const isDrawing = ({ winsMade, drawnAt }: State): boolean => winsMade > 0 && drawnAt === Infinity

/**
 * Returns the round of the beacon that the draw waits for; undefined if it waits for none. The round is known from the
 * closing on, and published after `drawAt`.
 */
export const awaitsBeacon = ({ beacon, beaconRound, overAt }: State): number | undefined =>
  beacon === undefined && overAt === Infinity ? beaconRound : undefined

/** Returns how many wins may be made now, if enough consumers can still win. */
const winsWanted = ({ configuration, counts, drawnAt, winsMade }: State): number =>
  configuration.winnerCount - (drawnAt === Infinity ? winsMade : counts.WON + counts.COMPLETED)

/** Returns how many wins can be made now: as many as are wanted, as there are units, and as consumers can still win. */
export const winsLeft = (state: State): number =>
  Math.min(winsWanted(state), unitsFree(state, state.counts.WON), state.counts.ENTERED)

/** Whether the drawing waits for its first unit: there are entries, and the stock has sent no unit for them yet. */
export const awaitsUnits = (state: State): boolean =>
  state.winsMade === 0 && state.counts.ENTERED > 0 && unitsFree(state, state.counts.WON) <= 0

/** The units that entries could win, in the drawing or in place of a win that was lost. */
export const unitUse: UnitUse<State> = {
  held: ({ counts }) => counts.WON,
  needed: (state) => (state.overAt === Infinity ? Math.max(0, Math.min(winsWanted(state), state.counts.ENTERED)) : 0)
}

/** Returns the reason for denying the consumers who are ENTERED when the draw is over. */
export const endReason = ({ drawnAt }: State): DenialReason => (drawnAt === Infinity ? "DRAW_CLOSED" : "NOT_SELECTED")

/** Returns the place's status at `now`; deadlines whose events are not recorded yet are applied. */
export const statusAsOf = (state: State, place: Place, now: Millis): Status =>
  (place.status === "ENTERED" && state.overAt <= now) || hasExpired(place, now) ? "DENIED" : place.status

/** Whether the place holds a win that has expired, but whose expiry is not recorded yet. */
export const hasExpired = (place: Place, now: Millis): boolean => place.status === "WON" && place.order <= now
