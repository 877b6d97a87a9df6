/**
 * How each event changes a draw. An event is a fact: nothing is checked here, and an event of an unknown consumer
 * changes no place.
 */
import { evolveUnits, noteSale } from "../mechanism/Allocation.ts"
import { noteRedemption } from "../mechanism/GrantRecord.ts"
import { startGrant } from "../mechanism/Grants.ts"
import { moveExpiry } from "../mechanism/extension/Extension.ts"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { DenialReason } from "./Protocol.ts"
import { isDrawing, Place, type State, type Status, weightOf } from "./State.ts"

export const apply = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return setConfiguration(state, event.configuration)
    case "SeedDrawn":
      state.seed = event.seed
      state.salt = event.salt
      return
    case "Entered":
      return enter(state, event)
    case "Left":
      return leave(state, event.consumerId, event.at)
    case "EntriesFixed":
      state.entriesDigest = event.entriesDigest
      state.beaconRound = event.beaconRound
      return
    case "BeaconProvided":
      state.beacon = {
        randomness: event.randomness,
        signature: event.signature,
        ...(event.isSimulated && { isSimulated: true })
      }
      return
    case "Won":
      return win(state, event.consumerId, event.at)
    case "Drawn":
      return finishDrawing(state, event.at)
    case "Expired":
      return deny(state, event.consumerId, event.at, "ADMISSION_EXPIRED")
    case "Denied":
      return deny(state, event.consumerId, event.at, event.reason)
    case "Completed":
      return complete(state, event.consumerId, event.at, event.redemptionId)
    case "Ended":
      evolveLifecycle(state, event)
      if (!isDrawing(state)) end(state, event.at)
      return
    case "UnitsCame":
    case "UnitsLeft":
    case "UnitsTaken":
      return evolveUnits(state.allocation, event)
    case "GrantExtended":
      return moveExpiry(state.expiring, state.places.get(event.consumerId), event.expiresAt)
    default:
      return evolveLifecycle(state, event)
  }
}

const enter = (state: State, entry: Extract<Event, { readonly _tag: "Entered" }>): void => {
  const { consumerId, at } = entry
  const known = state.places.get(consumerId)
  const place = new Place(consumerId, at, state.sequence, weightOf(state, entry))
  if (known !== undefined) {
    withdraw(state, known)
    move(state, known, "LEFT", at)
    state.counts.LEFT--
  }
  state.places.set(consumerId, place)
  state.counts.ENTERED++
}

const leave = (state: State, consumerId: string, at: Millis): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  withdraw(state, place)
  move(state, place, "LEFT", at)
}

const win = (state: State, consumerId: string, at: Millis): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  move(state, place, "WON", at)
  // Units that come back after the drawing go to others in the drawn order, who are not its winners.
  const isDrawn = state.drawnAt !== Infinity
  if (!isDrawn && state.winsMade < state.configuration.winnerCount) state.winners.push(place.entry)
  state.winsMade++
  startGrant(state, place, at)
}

const finishDrawing = (state: State, at: Millis): void => {
  state.drawnAt = at
  const mayGoOn = state.configuration.continueSelectingUntilCompleted && state.endedBy === undefined
  if (!mayGoOn || hasCompletedAll(state)) end(state, at)
}

const complete = (state: State, consumerId: string, at: Millis, redemptionId: string | undefined): void => {
  const place = state.places.get(consumerId)
  move(state, place, "COMPLETED", at)
  if (place !== undefined) {
    noteRedemption(place, redemptionId)
    noteSale(state)
  }
  if (state.drawnAt !== Infinity && hasCompletedAll(state)) end(state, at)
}

const hasCompletedAll = ({ counts, configuration }: State): boolean => counts.COMPLETED >= configuration.winnerCount

const end = (state: State, at: Millis): void => {
  state.overAt = Math.min(state.overAt, at)
}

const deny = (state: State, consumerId: string, at: Millis, reason: DenialReason): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  withdraw(state, place)
  // The end of the draw denied the ENTERED places, whenever the denial is recorded.
  move(state, place, "DENIED", place.status === "ENTERED" ? Math.min(at, state.overAt) : at)
  place.reason = reason
}

/** Withdraws an entry. Before the closing it is not listed. After the closing it stays listed and cannot win. */
const withdraw = (state: State, place: Place): void => {
  if (place.status !== "ENTERED" || state.overAt !== Infinity) return
  if (state.closedAt === Infinity) place.entry = 0
  else if (state.drawnAt === Infinity) state.withdrawn.push(place.entry)
}

const move = (state: State, place: Place | undefined, status: Status, at: Millis): void => {
  if (place === undefined) return
  if (place.status === "WON") state.expiring.remove(place)
  state.counts[place.status]--
  state.counts[status]++
  place.status = status
  place.since = at
  place.sequence = state.sequence
}
