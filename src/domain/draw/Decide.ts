/**
 * What each command leads to: events, none if it changes nothing, or a refusal. Deadlines count as they stand at `now`,
 * whether or not their events were applied yet.
 */
import { Equal } from "effect"
import { authored } from "../mechanism/Author.ts"
import type { Moment } from "../mechanism/Decider.ts"
import { sha256OfHex } from "../values/Digest.ts"
import { movedTo, withWindow } from "../experience/ExperienceWindow.ts"
import * as Lifecycle from "../mechanism/Lifecycle.ts"
import {
  AlreadyGranted,
  Closed,
  ConfigurationFixed,
  Full,
  GuestsRefused,
  NotEntered,
  NotOpen,
  WrongStatus
} from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import { placesMax } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { awaitsBeacon, isClosed, type State, statusAsOf } from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal
type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

const unchanged: ReadonlyArray<Event> = []

/** When to ask again after a full draw: someone may withdraw, but nobody can know. */
const retryAfterSeconds = 60

/** What decides who wins, and so must be the same for all who enter. */
const fixedByEntry = ["loyaltyBiasEnabled", "loyaltyWeight", "beacon"] as const

export const decide = (state: State, command: Command, moment: Moment): Outcome => {
  const at = Math.max(state.lastAt, moment.now)
  switch (command._tag) {
    case "Configure":
      return configure(state, command, at, moment.entropy)
    case "SetExperienceWindow":
      return setWindow(state, command, at)
    case "End":
      return Lifecycle.end(isOver(state), command.by, at)
    case "Archive":
      return Lifecycle.archive(state, isOver(state), command.by, at)
    case "ProvideBeacon":
      return provideBeacon(state, command, at)
    case "Enter":
      return enter(state, command, at)
    case "Leave":
      return leave(state, command, at)
    case "Deny":
      return deny(state, command, at)
    case "Complete":
      return complete(state, command, at)
    case "Remove":
      return remove(state, command, at)
  }
}

const configure = (
  state: State,
  { configuration: wanted, by }: CommandOf<"Configure">,
  at: Millis,
  entropy: () => string
): Outcome => {
  const { configured } = state
  if (state.sequence === 0) {
    const seedDrawn: Event = { _tag: "SeedDrawn", at, seed: entropy() + entropy(), salt: entropy() }
    return [{ _tag: "Configured", at, configuration: wanted, by }, seedDrawn]
  }
  if (isClosed(state, at)) return new Closed()
  const configuration = withWindow(wanted, configured.experienceWindow)
  if (hasOpened(state, at) && configuration.openAt !== configured.openAt)
    return new ConfigurationFixed({ setting: "openAt" })
  for (const setting of fixedByEntry) {
    if (state.places.size > 0 && configuration[setting] !== configured[setting])
      return new ConfigurationFixed({ setting })
  }
  return Equal.equals(configuration, configured) ? unchanged : [{ _tag: "Configured", at, configuration, by }]
}

/** A mechanism that has closed stays closed, whatever becomes of its experience. */
const setWindow = (state: State, { window, by }: CommandOf<"SetExperienceWindow">, at: Millis): Outcome => {
  const configuration = isClosed(state, at) ? undefined : movedTo(state.configured, window, hasOpened(state, at))
  return configuration === undefined ? unchanged : [{ _tag: "Configured", at, configuration, by }]
}

/** An absent `openAt` means open from the beginning. */
const hasOpened = (state: State, at: Millis): boolean =>
  state.places.size > 0 || (state.configuration.openAt ?? 0) <= at

/** Nothing is left that ending could end. */
const isOver = ({ overAt, endedBy, tornDown }: State): boolean =>
  overAt !== Infinity || endedBy !== undefined || tornDown

const provideBeacon = (
  state: State,
  { round, randomness, signature }: CommandOf<"ProvideBeacon">,
  at: Millis
): Outcome => {
  if (round !== awaitsBeacon(state) || sha256OfHex(signature) !== randomness) return unchanged
  return [{ _tag: "BeaconProvided", at, round, randomness, signature }]
}

const enter = (state: State, { consumerId, isGuest, loyaltyScore }: CommandOf<"Enter">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  if (place !== undefined && place.status !== "LEFT") return unchanged
  if (isClosed(state, at)) return new Closed()
  const { supportsGuest, openAt, capacity } = state.configuration
  if (isGuest && !supportsGuest) return new GuestsRefused()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (state.counts.ENTERED >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds })
  }
  const score = Math.round(Math.min(1, loyaltyScore) * 1_000_000) / 1_000_000
  return [{ _tag: "Entered", at, consumerId, ...(score > 0 && { loyaltyScore: score }) }]
}

const leave = (state: State, { consumerId, by }: CommandOf<"Leave">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  switch (status) {
    case "ENTERED":
      return [{ _tag: "Left", at, consumerId, ...authored(by) }]
    case "LEFT":
    case "NOT_ENTERED":
      return new NotEntered()
    case "WON":
    case "COMPLETED":
      return new AlreadyGranted()
    case "DENIED":
      return new WrongStatus({ status })
  }
}

const deny = (state: State, { consumerId, reason, by }: CommandOf<"Deny">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "DENIED") return unchanged
  if (status !== "ENTERED" && status !== "WON") return wrong(status)
  return [{ _tag: "Denied", at, consumerId, reason, by }]
}

const complete = (state: State, { consumerId, by }: CommandOf<"Complete">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "COMPLETED") return unchanged
  return status === "WON" ? [{ _tag: "Completed", at, consumerId, by }] : wrong(status)
}

const remove = (state: State, { consumerId, by }: CommandOf<"Remove">, at: Millis): Outcome => {
  switch (statusOf(state, consumerId, at)) {
    case "ENTERED":
      return [{ _tag: "Left", at, consumerId, by }]
    case "WON":
      return [{ _tag: "Denied", at, consumerId, reason: "ADMIN_ACTION", by }]
    default:
      return unchanged
  }
}

const statusOf = (state: State, consumerId: string, at: Millis) => {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_ENTERED" : statusAsOf(state, place, at)
}

/** Whoever left is told what its status says. */
const wrong = (status: ReturnType<typeof statusOf>): WrongStatus =>
  new WrongStatus({ status: status === "LEFT" ? "NOT_ENTERED" : status })
