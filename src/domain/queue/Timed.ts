/** The timed transitions of a queue. */
import { ended } from "../mechanism/GrantRecord.ts"
import { expiry } from "../mechanism/Grants.ts"
import type { Millis } from "../values/Time.ts"
import { closing, teardownWhen, type TimedTransition, type TimedTransitions } from "../mechanism/Timed.ts"
import { isGivenBack, unitRules } from "../mechanism/Units.ts"
import type { Event } from "./Event.ts"
import { admissionDueAt, admissionNoticedAt } from "./Pacing.ts"
import { isInLobby, type Place, type State, unitUse } from "./State.ts"

/** The opening of the lobby, which puts its places in a random order. */
const opening: TimedTransition<State, Event> = {
  dueAt: (state) => (isInLobby(state) && state.closedAt === Infinity ? state.configuration.openAt! : Infinity),
  make: (_, at, entropy) => ({ _tag: "Opened", at, seed: entropy() })
}

/** After the closing, the consumers who still wait are denied, one by one. */
const denial: TimedTransition<State, Event> = {
  dueAt: ({ waiting, closedAt }) => (waiting.size > 0 ? closedAt : Infinity),
  make: ({ waiting }, at) => ({ _tag: "Denied", at, consumerId: waiting.first!.consumerId, reason: "QUEUE_CLOSED" })
}

/** Returns the event of a grant that has expired. It names the grant if its token is still valid. */
export const expiryOf = ({ consumerId, grants }: Place, at: Millis): Event => ({
  _tag: "Expired",
  at,
  consumerId,
  ...(grants !== undefined && grants.expiresAt > at && ended(grants))
})

const expiration: TimedTransition<State, Event> = {
  dueAt: expiry.dueAt,
  make: ({ expiring }, at) => expiryOf(expiring.first!, at)
}

const admission: TimedTransition<State, Event> = {
  dueAt: admissionDueAt,
  noticedAt: admissionNoticedAt,
  make: ({ waiting }, at) => ({ _tag: "Granted", at, consumerId: waiting.first!.consumerId })
}

const teardown = teardownWhen<State>(
  (state) => state.counts.QUEUED === 0 && state.counts.GRANTED === 0 && isGivenBack(state)
)

const { giving } = unitRules(unitUse)

export const timed: TimedTransitions<State, Event> = [opening, closing, denial, expiration, admission, giving, teardown]
