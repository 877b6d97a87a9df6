/**
 * How each event changes a waitlist. An event is a fact: nothing is checked here, and an event of an unknown consumer
 * changes no place.
 */
import { evolveUnits, noteSale } from "../mechanism/Allocation.ts"
import { moveExpiry } from "../mechanism/extension/Extension.ts"
import { noteRedemption } from "../mechanism/GrantRecord.ts"
import { startGrant } from "../mechanism/Grants.ts"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { Channel, DenialReason } from "./Protocol.ts"
import { Place, type State, type Status, Wait } from "./State.ts"

export const apply = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return setConfiguration(state, event.configuration)
    case "Entered":
      return enter(state, event.consumerId, event.at)
    case "Left":
      return takeOut(state, state.places.get(event.consumerId), "LEFT", event.at)
    case "Denied":
      return deny(state, state.places.get(event.consumerId), event.reason, event.at)
    case "Offered":
      return offer(state, state.places.get(event.consumerId), event.at)
    case "Expired":
      return expire(state, state.places.get(event.consumerId), event.at)
    case "Completed":
      return complete(state, state.places.get(event.consumerId), event.at, event.redemptionId)
    case "UnitsCame":
    case "UnitsLeft":
    case "UnitsTaken":
      return evolveUnits(state.allocation, event)
    case "GrantExtended":
      return moveExpiry(state.expiring, state.places.get(event.consumerId), event.expiresAt)
    case "NoticeScheduled":
      state.noticeAt = event.noticeAt ?? Infinity
      state.isNoticeDue = false
      return
    case "NoticeDue":
      state.isNoticeDue = true
      return
    case "Notified":
      return notify(state, state.places.get(event.consumerId), event.channel, event.at)
    default:
      return evolveLifecycle(state, event)
  }
}

/** Enters a member. One that was notified before is not notified again, however often it enters. */
const enter = (state: State, consumerId: string, at: Millis): void => {
  let place = state.places.get(consumerId)
  if (place === undefined) {
    place = new Place(consumerId, at)
    state.places.set(consumerId, place)
    state.counts.ENTERED++
  } else {
    takeOut(state, place, place.notifiedAt === Infinity ? "ENTERED" : "NOTIFIED", at)
    place.enteredAt = at
    place.order = at
  }
  state.members.insert(place)
  if (place.notifiedAt === Infinity) startWaiting(state, place)
}

const startWaiting = (state: State, place: Place): void => {
  place.wait = new Wait(place)
  state.waiting.insert(place.wait)
}

const notify = (state: State, place: Place | undefined, channel: Channel | undefined, at: Millis): void => {
  if (place === undefined) return
  place.notifiedAt = at
  place.channel = channel
  stopWaiting(state, place)
  if (place.status === "ENTERED") move(state, place, "NOTIFIED", at)
}

const deny = (state: State, place: Place | undefined, reason: DenialReason | undefined, at: Millis): void => {
  takeOut(state, place, "DENIED", at)
  if (place !== undefined) place.reason = reason
}

const offer = (state: State, place: Place | undefined, at: Millis): void => {
  if (place === undefined) return
  takeOut(state, place, "OFFERED", at)
  startGrant(state, place, at)
}

const expire = (state: State, place: Place | undefined, at: Millis): void => {
  if (place === undefined) return
  takeOut(state, place, "EXPIRED", at)
  place.order = Math.min(place.order, at)
}

const complete = (state: State, place: Place | undefined, at: Millis, redemptionId: string | undefined): void => {
  if (place === undefined) return
  takeOut(state, place, "COMPLETED", at)
  noteRedemption(place, redemptionId)
  noteSale(state)
}

/** Removes the place from its lists and gives it a new status. */
const takeOut = (state: State, place: Place | undefined, status: Status, at: Millis): void => {
  if (place === undefined) return
  if (place.status === "OFFERED") state.expiring.remove(place)
  else state.members.remove(place)
  stopWaiting(state, place)
  move(state, place, status, at)
}

const stopWaiting = (state: State, place: Place): void => {
  if (place.wait !== undefined) state.waiting.remove(place.wait)
  place.wait = undefined
}

const move = (state: State, place: Place, status: Status, at: Millis): void => {
  state.counts[place.status]--
  state.counts[status]++
  place.status = status
  place.since = at
}
