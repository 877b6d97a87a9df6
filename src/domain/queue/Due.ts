/**
 * What time alone brings: the lobby's opening, admissions, expiries, the closing and what follows from it. They come in
 * the order of the instants they are due at, and at one instant in the order written here.
 */
import type { Moment } from "../mechanism/Decider.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import { admissionDueAsOf, admissionDueAt } from "./Pacing.ts"
import { isInLobby, type State } from "./State.ts"

/** The earliest transition due at or before `now`. */
export const due = (state: State, { now, entropy }: Moment): Event | undefined => {
  const opening = openingDueAt(state)
  const closing = closingDueAt(state)
  const denial = denialDueAt(state)
  const expiry = expiryDueAt(state)
  const admission = admissionDueAsOf(state, now)
  const teardown = teardownDueAt(state)
  const earliest = Math.min(opening, closing, denial, expiry, admission, teardown)
  if (earliest > now) return undefined
  const at = Math.max(state.lastAt, earliest)
  if (opening === earliest) return { _tag: "Opened", at, seed: entropy() }
  if (closing === earliest) return { _tag: "Closed", at }
  if (denial === earliest) {
    return { _tag: "Denied", at, consumerId: state.waiting.first!.consumerId, reason: "QUEUE_CLOSED" }
  }
  if (expiry === earliest) return { _tag: "Expired", at, consumerId: state.expiring.first!.consumerId }
  if (admission === earliest) return { _tag: "Granted", at, consumerId: state.waiting.first!.consumerId }
  return { _tag: "TornDown", at }
}

/** When {@link due} will next have something; undefined if never. */
export const wakeAt = (state: State): Millis | undefined => {
  const earliest = Math.min(
    openingDueAt(state),
    closingDueAt(state),
    denialDueAt(state),
    expiryDueAt(state),
    admissionDueAt(state),
    teardownDueAt(state)
  )
  return earliest === Infinity ? undefined : earliest
}

const openingDueAt = (state: State): Millis =>
  isInLobby(state) && state.closedAt === Infinity ? state.configuration.openAt! : Infinity

const closingDueAt = (state: State): Millis =>
  state.closedAt === Infinity ? (state.configuration.closeAt ?? Infinity) : Infinity

/** After the closing, whoever still waits is denied, one by one. */
const denialDueAt = (state: State): Millis => (state.waiting.size > 0 ? state.closedAt : Infinity)

const expiryDueAt = (state: State): Millis => state.expiring.first?.order ?? Infinity

const teardownDueAt = (state: State): Millis =>
  state.closedAt !== Infinity && !state.tornDown && state.counts.QUEUED === 0 && state.counts.GRANTED === 0
    ? state.lastAt
    : Infinity
