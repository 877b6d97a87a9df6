/**
 * What each command leads to: events, none if it changes nothing, or a refusal. Deadlines count as they stand at `now`,
 * whether or not their events were applied yet.
 */
import { Equal } from "effect"
import type { Moment } from "../Decider.ts"
import * as Life from "../Life.ts"
import { AdmissionsUsedUp, Closed, ConfigurationFixed, Full, GuestsRefused, NotOpen, WrongStatus } from "../Refusals.ts"
import type { Millis } from "../Time.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import {
  admissionsLeft,
  hasExpired,
  isClosed,
  isInLobby,
  type Place,
  placesMax,
  type State,
  statusAsOf
} from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal
type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

const unchanged: ReadonlyArray<Event> = []

export const decide = (state: State, command: Command, { now }: Moment): Outcome => {
  const at = Math.max(state.lastAt, now)
  switch (command._tag) {
    case "Configure":
      return configure(state, command, at)
    case "End":
      return Life.end(isClosed(state, at), command.by, at)
    case "Archive":
      return Life.archive(state, isClosed(state, at), command.by, at)
    case "Enter":
      return enter(state, command, at)
    case "Leave":
      return leave(state, command, at)
    case "Admit":
      return admit(state, command, at)
    case "Deny":
      return deny(state, command, at)
    case "Complete":
      return complete(state, command, at)
  }
}

const configure = (state: State, { configuration, by }: CommandOf<"Configure">, at: Millis): Outcome => {
  const configured: Event = { _tag: "Configured", at, configuration, by }
  if (state.sequence === 0) return [configured]
  if (isClosed(state, at)) return new Closed()
  if (hasOpened(state, at)) {
    if (configuration.openAt !== state.configuration.openAt) return new ConfigurationFixed({ setting: "openAt" })
    if (configuration.lobbyOpenAt !== state.configuration.lobbyOpenAt) {
      return new ConfigurationFixed({ setting: "lobbyOpenAt" })
    }
  }
  return Equal.equals(configuration, state.configuration) ? unchanged : [configured]
}

const enter = (state: State, command: CommandOf<"Enter">, at: Millis): Outcome => {
  const place = state.places.get(command.consumerId)
  if (place !== undefined && !mayEnterAgain(state, place, at)) return unchanged
  if (isClosed(state, at)) return new Closed()
  const { supportsGuest, lobbyOpenAt, openAt, capacity } = state.configuration
  if (command.isGuest && !supportsGuest) return new GuestsRefused()
  const opensAt = lobbyOpenAt ?? openAt
  if (opensAt !== undefined && at < opensAt) return new NotOpen({ opensAt })
  if (state.counts.QUEUED >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds: secondsUntilPlaceFrees(state, at) })
  }
  const entered = enteredEvent(command, at)
  if (place === undefined || place.status !== "GRANTED") return [entered]
  return [{ _tag: "Expired", at: Math.max(state.lastAt, place.order), consumerId: place.consumerId }, entered]
}

const leave = (state: State, { consumerId }: CommandOf<"Leave">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "LEFT") return unchanged
  return status === "QUEUED" || status === "GRANTED" ? [{ _tag: "Left", at, consumerId }] : new WrongStatus({ status })
}

const admit = (state: State, { consumerId }: CommandOf<"Admit">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "GRANTED") return unchanged
  if (isClosed(state, at)) return new Closed()
  if (status !== "QUEUED") return new WrongStatus({ status })
  if (admissionsLeft(state) <= 0) return new AdmissionsUsedUp()
  return [{ _tag: "Granted", at, consumerId, by: "operator" }]
}

const deny = (state: State, { consumerId, reason }: CommandOf<"Deny">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "DENIED") return unchanged
  if (status !== "QUEUED" && status !== "GRANTED") return new WrongStatus({ status })
  return [{ _tag: "Denied", at, consumerId, reason }]
}

const complete = (state: State, { consumerId }: CommandOf<"Complete">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "COMPLETED") return unchanged
  return status === "GRANTED" ? [{ _tag: "Completed", at, consumerId }] : new WrongStatus({ status })
}

const statusOf = (state: State, consumerId: string, at: Millis) => {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_QUEUED" : statusAsOf(state, place, at)
}

/** Whoever left, or let a grant expire, may take a new place at the end while the queue is open. */
const mayEnterAgain = (state: State, place: Place, at: Millis): boolean =>
  !isClosed(state, at) &&
  (place.status === "LEFT" ||
    hasExpired(place, at) ||
    (place.status === "DENIED" && place.reason === "ADMISSION_EXPIRED"))

/** An absent `openAt` means open from the beginning. */
const hasOpened = (state: State, at: Millis): boolean =>
  state.places.size > 0 || state.lobbyOpened || (state.configuration.openAt ?? 0) <= at

const enteredEvent = ({ consumerId, loyaltyScore }: CommandOf<"Enter">, at: Millis): Event =>
  loyaltyScore > 0
    ? { _tag: "Entered", at, consumerId, loyaltyScore: Math.min(1, loyaltyScore) }
    : { _tag: "Entered", at, consumerId }

/** When the next admission is to be expected, from `at` on; a minute if nobody can know. */
const secondsUntilPlaceFrees = (state: State, at: Millis): number => {
  const { admitRate, openAt } = state.configuration
  const spacing = admitRate === 0 || admissionsLeft(state) <= 0 ? 60 : Math.ceil(60 / admitRate)
  return isInLobby(state) ? Math.max(0, Math.ceil((openAt! - at) / 1000)) + spacing : spacing
}
