/**
 * The views of a queue: a consumer's view of its place, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { completedGrant, grantLimit } from "../mechanism/GrantRecord.ts"
import { closedAsOf, endedFields, finite, isFull, placeRow } from "../mechanism/State.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { lineOf } from "./Line.ts"
import type { Facts, View } from "./Protocol.ts"
import { admissionsLeft, hasExpired, isInLobby, type Place, type State } from "./State.ts"

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
  const { enteredAt, ticket } = place
  const deniedAt = closedAsOf(state, now)
  if (deniedAt !== Infinity) return { status: "DENIED", enteredAt, reason: "QUEUE_CLOSED", deniedAt }
  if (isInLobby(state)) return waitingView(enteredAt, {}, paceOf(state))
  const position = state.waiting.position(place)
  return waitingView(enteredAt, state.line.isMoved ? { position } : { position, ticket }, paceOf(state))
}

/** What the views of all waiting consumers have in common. */
export interface Pace {
  readonly admitRate: number
  readonly isPaused: boolean
  readonly positionDisplayMode: "precise" | "qualitative"
}

export const paceOf = ({ configuration: { admitRate, loyaltyBiasEnabled }, pause }: State): Pace => ({
  admitRate,
  isPaused: pause !== undefined,
  positionDisplayMode: loyaltyBiasEnabled ? "qualitative" : "precise"
})

/** Returns the view of a consumer that waits. In the lobby it has no position, and under head starts no ticket. */
export const waitingView = (
  enteredAt: Millis,
  standing: { readonly position?: number; readonly ticket?: number },
  { admitRate, isPaused, positionDisplayMode }: Pace
): View => {
  const paused = isPaused ? ({ paused: true } as const) : {}
  const { position } = standing
  if (position === undefined || isPaused || admitRate === 0) {
    return { status: "QUEUED", ...standing, ...paused, positionDisplayMode, enteredAt }
  }
  const estimatedWaitTimeInSeconds = Math.ceil((position * 60) / admitRate)
  return { status: "QUEUED", ...standing, estimatedWaitTimeInSeconds, positionDisplayMode, enteredAt }
}

const viewGranted = (state: State, place: Place, now: Millis): View => {
  const { enteredAt, since: grantedAt, sequence: grantSequence, order: expiresAt } = place
  if (hasExpired(place, now)) {
    const reason = "ADMISSION_EXPIRED"
    return { status: "DENIED", enteredAt, reason, deniedAt: expiresAt, ...limitOf(state, place) }
  }
  if (expiresAt === Infinity) return { status: "GRANTED", enteredAt, grantedAt, grantSequence }
  return { status: "GRANTED", enteredAt, grantedAt, expiresAt, grantSequence }
}

/** Returns the public facts. A closing ends a pause. */
export const facts = (state: State, now: Millis): Facts => ({
  pause: closedAsOf(state, now) === Infinity ? state.pause : undefined,
  admissionsLeft: Math.max(0, admissionsLeft(state)),
  line: lineOf(state)
})

/** Returns the facts of the live page. */
export const liveFacts = ({ configuration, counts, facts: { pause, admissionsLeft } }: Seen<Configuration, Facts>) => ({
  waiting: counts["QUEUED"],
  isFull: isFull(counts["QUEUED"]!, configuration),
  admitRate: configuration.admitRate,
  paused: pause !== undefined,
  pausedAt: pause?.since ?? null,
  pauseReason: pause?.reason ?? null,
  unitsLeft: finite(admissionsLeft)
})

/** Returns the facts that belong to the record. */
export const published = ({ pause, closedAt }: State): { readonly [name: string]: unknown } =>
  pause === undefined || closedAt !== Infinity
    ? {}
    : { pausedAt: toText(pause.since), pausedBy: pause.by, pauseReason: pause.reason ?? null }

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
