/**
 * The views of a queue: a consumer's view of its place, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { completedGrant, grantLimit } from "../mechanism/GrantRecord.ts"
import { closedAsOf, endedFields, finite, isClosed, isFull, placeRow } from "../mechanism/State.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { hasOpened } from "./Decide.ts"
import { lineOf } from "./Line.ts"
import { isAdmittedAtOnce } from "./Pacing.ts"
import { outlookOf, waitRecordOf } from "./wait/WaitRange.ts"
import type { Facts, SoldOutView, View } from "./Protocol.ts"
import {
  admissionsLeft,
  hasExpired,
  isInLobby,
  isSoldOut,
  mayUnitsReturn,
  type Place,
  type State,
  unitsLeft
} from "./State.ts"

/** Returns the consumer's view of its place at `now`, deadlines already applied. */
export const view = (state: State, consumerId: string, now: Millis): View => {
  const place = state.places.get(consumerId)
  if (place === undefined) return { status: "NOT_QUEUED" }
  const { enteredAt, since } = place
  switch (place.status) {
    case "QUEUED":
      return viewQueued(state, place, now)
    case "GRANTED":
      return viewGranted(state, place, now)
    case "COMPLETED":
      return { status: "COMPLETED", enteredAt, completedAt: since, ...completedGrant(place), ...limitOf(state, place) }
    case "DENIED":
      return { status: "DENIED", enteredAt, reason: place.reason!, deniedAt: since, ...limitOf(state, place) }
    case "LEFT":
      return { status: "LEFT", enteredAt, leftAt: since, ...limitOf(state, place) }
  }
}

const limitOf = ({ configuration }: State, place: Place) => grantLimit(place, configuration)

const viewQueued = (state: State, place: Place, now: Millis): View => {
  const { enteredAt, ticket, joined } = place
  const deniedAt = closedAsOf(state, now)
  if (deniedAt !== Infinity) return { status: "DENIED", enteredAt, reason: "QUEUE_CLOSED", deniedAt }
  if (isInLobby(state)) return waitingView(enteredAt, {}, paceOf(state))
  const position = state.waiting.position(place)
  return waitingView(enteredAt, state.line.isMoved ? { position } : { position, ticket, joined }, paceOf(state))
}

/** What the views of all waiting consumers have in common. */
export interface Pace {
  /** 0 if no rate tells how long the wait is: admission is by hand, or depends on how long others stay inside. */
  readonly admitRate: number
  readonly isPaused: boolean
  readonly positionDisplayMode: "precise" | "qualitative"
  /** Absent: units are left, or the queue sells from no stock. */
  readonly soldOut?: SoldOutView
}

export const paceOf = (state: State): Pace => {
  const { admitRate, loyaltyBiasEnabled, insideLimit } = state.configuration
  const soldOut = soldOutOf(state)
  return {
    admitRate: insideLimit === undefined && soldOut === undefined ? admitRate : 0,
    isPaused: state.pause !== undefined,
    positionDisplayMode: loyaltyBiasEnabled ? "qualitative" : "precise",
    ...(soldOut !== undefined && { soldOut })
  }
}

const soldOutOf = (state: State): SoldOutView | undefined =>
  isSoldOut(state) ? { mayReturn: mayUnitsReturn(state) } : undefined

/** Returns the view of a consumer that waits. In the lobby it has no position, and under head starts no ticket. */
export const waitingView = (
  enteredAt: Millis,
  standing: { readonly position?: number; readonly ticket?: number; readonly joined?: number },
  { admitRate, isPaused, positionDisplayMode, soldOut }: Pace
): View => {
  const paused = { ...(isPaused && { paused: true as const }), ...(soldOut !== undefined && { soldOut }) }
  const { position } = standing
  if (position === undefined || isPaused || admitRate === 0) {
    return { status: "QUEUED", ...standing, ...paused, positionDisplayMode, enteredAt }
  }
  const estimatedWaitTimeInSeconds = Math.ceil((position * 60) / admitRate)
  return { status: "QUEUED", ...standing, estimatedWaitTimeInSeconds, positionDisplayMode, enteredAt }
}

const viewGranted = (state: State, place: Place, now: Millis): View => {
  const { enteredAt, since: grantedAt, sequence: grantSequence, order: expiresAt, grants } = place
  if (hasExpired(place, now)) {
    const reason = "ADMISSION_EXPIRED"
    return { status: "DENIED", enteredAt, reason, deniedAt: expiresAt, ...limitOf(state, place) }
  }
  if (expiresAt === Infinity) return { status: "GRANTED", enteredAt, grantedAt, grantSequence }
  const held = { status: "GRANTED", enteredAt, grantedAt, expiresAt, grantSequence } as const
  const tokenExpiresAt = grants?.expiresAt ?? expiresAt
  return tokenExpiresAt > expiresAt ? { ...held, tokenExpiresAt } : held
}

/** Returns the public facts. A closing ends a pause. */
export const facts = (state: State, now: Millis): Facts => ({
  pause: closedAsOf(state, now) === Infinity ? state.pause : undefined,
  admissionsLeft: Math.max(0, admissionsLeft(state)),
  // Units of the stock come when consumers wait, so those that are here say nothing while more may come.
  unitsLeft: state.mayReturn ? Infinity : Math.max(0, unitsLeft(state)),
  soldOut: closedAsOf(state, now) === Infinity ? soldOutOf(state) : undefined,
  inside: state.counts.GRANTED,
  isEngaged: isClosed(state, now) || !hasOpened(state, now) || !isAdmittedAtOnce(state, now),
  line: lineOf(state),
  outlook: outlookOf(state),
  waitRanges: waitRecordOf(state)
})

/** Returns the facts of the live page. */
export const liveFacts = ({
  configuration,
  counts,
  facts: { pause, admissionsLeft, unitsLeft, soldOut }
}: Seen<Configuration, Facts>) => ({
  waiting: counts["QUEUED"],
  isFull: isFull(counts["QUEUED"]!, configuration),
  admitRate: configuration.admitRate,
  paused: pause !== undefined,
  pausedAt: pause?.since ?? null,
  pauseReason: pause?.reason ?? null,
  unitsLeft: finite(Math.min(admissionsLeft, unitsLeft)),
  soldOut: soldOut ?? null
})

/** Returns the facts that only staff may know: what they did, who was admitted and is inside, how right ranges were. */
export const staffFacts = ({ facts: { line, inside, isEngaged, waitRanges } }: Seen<Configuration, Facts>) => ({
  inside,
  engaged: isEngaged,
  acts: line.acts,
  admitted: line.tally.byRate + line.tally.byHand,
  waitRanges: waitRanges.told === 0 ? null : waitRanges
})

/** Returns the facts about the pause that lasts. */
export const published = (state: State): { readonly [name: string]: unknown } => {
  const { pause, closedAt } = state
  return {
    ...(pause !== undefined &&
      closedAt === Infinity && {
        pausedAt: toText(pause.since),
        pausedBy: pause.by,
        pauseReason: pause.reason ?? null
      })
  }
}

/** Returns the consumer's row in the projection: the recorded status, instants as text. */
export const place = (state: State, consumerId: string): PlaceRow | undefined =>
  placeRow(state.places.get(consumerId), fieldsOf)

const noFields: PlaceRow["fields"] = {}

const fieldsOf = (place: Place): PlaceRow["fields"] => {
  const { status, since, order } = place
  switch (status) {
    case "QUEUED":
      return noFields
    case "GRANTED":
      return order === Infinity ? { grantedAt: toText(since) } : { grantedAt: toText(since), expiresAt: toText(order) }
    case "COMPLETED":
    case "DENIED":
    case "LEFT":
      return endedFields(status, place)
  }
}
