/**
 * How each event changes a timed release. An event is a fact: nothing is checked here, and an event of an unknown
 * consumer changes no place.
 */
import { evolveUnits, noteSale } from "../mechanism/Allocation.ts"
import { noteRedemption } from "../mechanism/GrantRecord.ts"
import { startGrant } from "../mechanism/Grants.ts"
import { moveExpiry } from "../mechanism/extension/Extension.ts"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { DenialReason } from "./Protocol.ts"
import { Place, type State, type Status } from "./State.ts"

export const apply = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return configure(state, event.configuration)
    case "Entered":
      return enter(state, event.consumerId, event.variantId, event.at)
    case "Selected":
      return select(state.places.get(event.consumerId), event.variantId, event.at)
    case "Expired":
      return expire(state, event.consumerId, event.at)
    case "Denied":
      return deny(state, event.consumerId, event.reason, event.at)
    case "Completed":
      return complete(state, event.consumerId, event.at, event.redemptionId)
    case "Left":
      return move(state, state.places.get(event.consumerId), "LEFT", event.at)
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

const configure = (state: State, configuration: Configuration): void => {
  setConfiguration(state, configuration)
  state.offered = configuration.variantIds && new Set(configuration.variantIds)
}

const enter = (state: State, consumerId: string, variantId: string | undefined, at: Millis): void => {
  let place = state.places.get(consumerId)
  if (place === undefined) {
    place = new Place(consumerId, at)
    state.places.set(consumerId, place)
    state.counts.ENTERED++
  } else {
    move(state, place, "ENTERED", at)
    place.enteredAt = at
  }
  place.variantId = variantId
  startGrant(state, place, at)
}

const select = (place: Place | undefined, variantId: string, at: Millis): void => {
  if (place === undefined) return
  place.variantId = variantId
  place.since = at
}

const expire = (state: State, consumerId: string, at: Millis): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  move(state, place, "EXPIRED", at)
  place.order = Math.min(place.order, at)
}

const deny = (state: State, consumerId: string, reason: DenialReason, at: Millis): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  move(state, place, "DENIED", at)
  place.reason = reason
}

const complete = (state: State, consumerId: string, at: Millis, redemptionId: string | undefined): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  move(state, place, "COMPLETED", at)
  noteRedemption(place, redemptionId)
  state.unitsSold++
  noteSale(state)
}

/** Removes the place from the list of expiring grants and gives it a new status. */
const move = (state: State, place: Place | undefined, status: Status, at: Millis): void => {
  if (place === undefined) return
  state.expiring.remove(place)
  state.counts[place.status]--
  state.counts[status]++
  place.status = status
  place.since = at
}
