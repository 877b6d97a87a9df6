/** Builds the contents of an experience's page from the known facts. Pure. */
import { type Action, rankOf, shown, type ShownPlace, type ViewState } from "./places.ts"
import { serverNow } from "../moving/time.ts"
import type { Known } from "./reading.ts"
import type { Experience, Session } from "../types.ts"

/** The contents of a page. A snapshot never changes; a change makes another one. */
export interface Snapshot {
  readonly state: ViewState
  /** The present actions of the consumer, over all places. */
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

/** Makes the snapshot of the known facts; before the first answer there are none. */
export const snapshotOf = (known: Known | undefined, session: Session | undefined, isConnected: boolean): Snapshot => {
  if (!known) return { ...loading, isConnected, state: isConnected ? "loading" : "unreachable" }
  const { experience } = known
  const now = serverNow()
  const places = known.places.map((place) => shown(place, session, now))
  places.sort((one, other) => rankOf(one) - rankOf(other))
  const isProtected = experience?.hasProtectedSequences
  const isGated = known.isBarred || (isProtected && !places[0])
  const actions = places.flatMap(({ actions }) => actions).concat(isProtected ? "unlock" : [])
  return {
    state: isGated ? "gated" : (places[0]?.state ?? "ended"),
    actions: [...new Set(actions)],
    places,
    isConnected,
    aheadMillis: now - Date.now(),
    experience,
    session
  }
}
