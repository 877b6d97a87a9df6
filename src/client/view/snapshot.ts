/** What a page shows of an experience: pure, from what is known. */
import { type Action, rankOf, shown, type ShownPlace, type ViewState } from "./places.ts"
import type { Known } from "./reading.ts"
import type { Experience, Session } from "../types.ts"

/** What a page shows. A snapshot never changes; a change makes another one. */
export interface Snapshot {
  readonly state: ViewState
  /** What the consumer can do now, in some place. */
  readonly actions: ReadonlyArray<Action>
  readonly experience?: Experience | undefined
  readonly session?: Session | undefined
  /** Those that matter most come first. */
  readonly places: ReadonlyArray<ShownPlace>
  /** False while Usher is out of reach. The last known state stays, and the place is kept. */
  readonly isConnected: boolean
  /** Milliseconds by which the server's clock is ahead of this device's, for countdowns. */
  readonly aheadMillis: number
}

export const loading: Snapshot = { state: "loading", actions: [], places: [], isConnected: true, aheadMillis: 0 }

/** The snapshot of what is known; nothing is known before the first answer. */
export const snapshotOf = (known: Known | undefined, session: Session | undefined, isConnected: boolean): Snapshot => {
  if (!known) return { ...loading, isConnected, state: isConnected ? "loading" : "unreachable" }
  const { experience, ahead } = known
  const places = known.places.map((place) => shown(place, session, Date.now() + ahead))
  places.sort((one, other) => rankOf(one) - rankOf(other))
  const isProtected = experience?.hasProtectedSequences
  const isGated = known.isBarred || (isProtected && !places[0])
  const actions = places.flatMap(({ actions }) => actions).concat(isProtected ? "unlock" : [])
  return {
    state: isGated ? "gated" : (places[0]?.state ?? "ended"),
    actions: [...new Set(actions)],
    places,
    isConnected,
    aheadMillis: ahead,
    experience,
    session
  }
}
