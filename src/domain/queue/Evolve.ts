/**
 * How each event changes a queue. An event is a fact: nothing is checked here, and an event of an unknown consumer
 * changes no place.
 */
import { bounded } from "../experience/ExperienceWindow.ts"
import { noteRedemption } from "../mechanism/GrantRecord.ts"
import { startGrant } from "../mechanism/Grants.ts"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { seededRandom, shuffle } from "../values/SeededRandom.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import { changeSpacing, countAdmission, noteAdmissible } from "./Pacing.ts"
import type { DenialReason } from "./Protocol.ts"
import { isInLobby, Place, type State, type Status } from "./State.ts"

export const apply = (state: State, event: Event): void => {
  change(state, event)
  noteAdmissible(state, state.lastAt)
}

const change = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return configure(state, event.configuration)
    case "Opened":
      return openLobby(state, event.seed)
    case "Entered":
      return enter(state, event.consumerId, event.at, event.loyaltyScore ?? 0)
    case "Granted":
      if (event.by === undefined) countAdmission(state, event.at)
      return grant(state, event.consumerId, event.at)
    case "Expired":
      return deny(state, event.consumerId, event.at, "ADMISSION_EXPIRED")
    case "Denied":
      return deny(state, event.consumerId, event.at, event.reason)
    case "Completed":
      return complete(state, event.consumerId, event.at, event.redemptionId)
    case "Left":
      return leave(state, state.places.get(event.consumerId), event.at)
    default:
      return evolveLifecycle(state, event)
  }
}

const configure = (state: State, configuration: Configuration): void => {
  const rateChanges = state.configuration.admitRate !== configuration.admitRate
  state.configured = configuration
  state.configuration = bounded(configuration)
  if (rateChanges) changeSpacing(state)
}

/**
 * Gives the lobby's places the orders 0 to n − 1. No head start reaches them, because any later order is an instant.
 */
const openLobby = (state: State, seed: string): void => {
  if (state.lobbyOpened) return
  state.lobbyOpened = true
  const places = state.waiting.takeAll()
  shuffle(places, seededRandom(seed))
  for (let index = 0; index < places.length; index++) {
    const place = places[index]!
    place.order = index
    state.waiting.insert(place)
  }
}

const enter = (state: State, consumerId: string, at: Millis, loyaltyScore: number): void => {
  const { loyaltyBiasEnabled, loyaltyHeadStartSeconds } = state.configuration
  const headStart = loyaltyBiasEnabled && !isInLobby(state) ? loyaltyScore * loyaltyHeadStartSeconds * 1000 : 0
  let place = state.places.get(consumerId)
  if (place === undefined) {
    place = new Place(consumerId, at, state.sequence, at - headStart)
    state.places.set(consumerId, place)
    state.counts.QUEUED++
  } else {
    move(state, place, "QUEUED", at)
    place.enteredAt = at
    place.order = at - headStart
  }
  state.waiting.insert(place)
}

const grant = (state: State, consumerId: string, at: Millis): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  move(state, place, "GRANTED", at)
  state.grantsMade++
  startGrant(state, place, at)
}

const deny = (state: State, consumerId: string, at: Millis, reason: DenialReason): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  if (place.status === "GRANTED") state.grantsReturned++
  move(state, place, "DENIED", at)
  place.reason = reason
}

const complete = (state: State, consumerId: string, at: Millis, redemptionId: string | undefined): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  move(state, place, "COMPLETED", at)
  noteRedemption(place, redemptionId)
}

const leave = (state: State, place: Place | undefined, at: Millis): void => {
  if (place?.status === "GRANTED") state.grantsLeft++
  move(state, place, "LEFT", at)
}

/** Removes the place from its list and gives it a new status. */
const move = (state: State, place: Place | undefined, status: Status, at: Millis): void => {
  if (place === undefined) return
  if (place.status === "QUEUED") state.waiting.remove(place)
  else if (place.status === "GRANTED") state.expiring.remove(place)
  state.counts[place.status]--
  state.counts[status]++
  place.status = status
  place.since = at
  place.sequence = state.sequence
}
