/**
 * How each event changes a queue. An event is a fact: nothing is checked here, and an event of an unknown consumer
 * changes no place.
 */
import { evolveUnits, noteSale } from "../mechanism/Allocation.ts"
import { noteRedemption } from "../mechanism/GrantRecord.ts"
import { startGrant } from "../mechanism/Grants.ts"
import { reasoned } from "../mechanism/Author.ts"
import { moveExpiry } from "../mechanism/extension/Extension.ts"
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { riskFactor } from "../risk/RiskWeight.ts"
import { seededRandom, shuffle, shuffleByWeight } from "../values/SeededRandom.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import { noteAct } from "./LineState.ts"
import { issueTicket, noteGone } from "./Line.ts"
import { changePace, countAdmission, noteAdmissible } from "./Pacing.ts"
import type { DenialReason } from "./Protocol.ts"
import { isInLobby, Place, type State, type Status } from "./State.ts"
import { noteCall, noteChange, noteOpening, noteStopped } from "./wait/WaitRange.ts"

type EventOf<Tag extends Event["_tag"]> = Extract<Event, { readonly _tag: Tag }>

export const apply = (state: State, event: Event): void => {
  change(state, event)
  noteAdmissible(state, state.lastAt)
}

const change = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return configure(state, event)
    case "Opened":
      openLobby(state, event.seed)
      return noteOpening(state, event.at)
    case "Entered":
      return enter(state, event.consumerId, event.at, event.loyaltyScore ?? 0)
    case "Granted":
      if (event.by === undefined) countAdmission(state, event.at)
      return grant(state, event)
    case "Expired":
      return deny(state, event.consumerId, event.at, "ADMISSION_EXPIRED")
    case "Denied":
      noteRemoval(state, event)
      return deny(state, event.consumerId, event.at, event.reason)
    case "Completed":
      return complete(state, event.consumerId, event.at, event.redemptionId)
    case "Left":
      return leave(state, state.places.get(event.consumerId), event.at)
    case "Paused":
      state.pause = { since: event.at, by: event.by, ...reasoned(event.reason) }
      noteChange(state, event.at)
      return noteAct(state.line, { at: event.at, act: "paused", ...reasoned(event.reason) })
    case "Resumed":
      state.pause = undefined
      noteChange(state, event.at)
      return noteAct(state.line, { at: event.at, act: "resumed", ...reasoned(event.reason) })
    case "UnitsCame":
    case "UnitsLeft":
    case "UnitsTaken":
      return evolveUnits(state.allocation, event)
    case "SupplyNoted":
      state.mayReturn = event.mayReturn
      return
    case "GrantExtended":
    case "Renewed":
      return moveExpiry(state.expiring, state.places.get(event.consumerId), event.expiresAt)
    default:
      return evolveLifecycle(state, event)
  }
}

const configure = (state: State, { configuration, at, reason }: EventOf<"Configured">): void => {
  const { admitRate } = configuration
  const before = state.configuration
  const rateChanges = before.admitRate !== admitRate
  if (rateChanges && state.sequence > 1) noteAct(state.line, { at, act: "rate", ...reasoned(reason), admitRate })
  setConfiguration(state, configuration)
  changePace(state, before)
  if (rateChanges) noteChange(state, at, before.admitRate)
}

/**
 * Gives the lobby's places the orders 0 to n − 1. No head start reaches them, because any later order is an instant.
 */
const openLobby = (state: State, seed: string): void => {
  if (state.lobbyOpened) return
  state.lobbyOpened = true
  const places = state.waiting.takeAll()
  const { riskWeight = 0 } = state.configuration
  const random = seededRandom(seed)
  if (riskWeight === 0) shuffle(places, random)
  else shuffleByWeight(places, random, ({ consumerId }) => riskFactor(riskWeight, state.risks.get(consumerId)))
  for (let index = 0; index < places.length; index++) {
    const place = places[index]!
    place.order = index
    issueTicket(state, place)
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
  place.ticket = 0
  if (!isInLobby(state)) issueTicket(state, place)
  if (headStart > 0) state.line.isMoved = true
  state.waiting.insert(place)
}

const grant = (state: State, { consumerId, at, by, reason }: EventOf<"Granted">): void => {
  const place = state.places.get(consumerId)
  if (place === undefined) return
  if (by !== undefined && place.status === "QUEUED") {
    const outOfOrder = place.ticket === 0 || state.waiting.first === place ? 0 : 1
    noteAct(state.line, { at, act: "admitted", ...reasoned(reason), count: 1, outOfOrder })
  }
  move(state, place, "GRANTED", at, by)
  state.grantsMade++
  startGrant(state, place, at)
  if (by === undefined) noteCall(state, place.ticket, at)
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
  noteSale(state)
}

const leave = (state: State, place: Place | undefined, at: Millis): void => {
  if (place?.status === "GRANTED") state.grantsLeft++
  move(state, place, "LEFT", at)
}

/** Notes that staff took a place out of the line. */
const noteRemoval = (state: State, { consumerId, at, by }: EventOf<"Denied">): void => {
  const isWaiting = state.places.get(consumerId)?.status === "QUEUED"
  if (by !== undefined && isWaiting) noteAct(state.line, { at, act: "removed", count: 1 })
}

/** Removes the place from its list and gives it a new status. `by` is absent if no admin does it. */
const move = (state: State, place: Place | undefined, status: Status, at: Millis, by?: string): void => {
  if (place === undefined) return
  noteGone(state, place, status, by)
  noteStopped(state, place, at, status === "LEFT")
  if (place.status === "QUEUED") state.waiting.remove(place)
  else if (place.status === "GRANTED") state.expiring.remove(place)
  state.counts[place.status]--
  state.counts[status]++
  place.status = status
  place.since = at
  place.sequence = state.sequence
}
