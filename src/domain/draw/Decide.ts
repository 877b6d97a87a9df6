/**
 * What each command leads to: events, none if it changes nothing, or a refusal. Deadlines count as they stand at `now`,
 * whether or not their events are recorded yet.
 */
import { authored } from "../mechanism/Author.ts"
import type { Moment } from "../mechanism/Decider.ts"
import { sha256OfHex } from "../values/Digest.ts"
import { withWindow } from "../experience/ExperienceWindow.ts"
import * as Configuring from "../mechanism/Configuring.ts"
import { grantRules } from "../mechanism/Grants.ts"
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
import { awaitsBeacon, isClosed, type State, type Status, statusAsOf } from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal
type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

const unchanged: ReadonlyArray<Event> = []

const grants = grantRules<Status>({ waiting: "ENTERED", granted: "WON" })

/** When to try again at a full draw. No one can know when a consumer withdraws. */
const retryAfterSeconds = 60

/** The settings that decide who wins. They are fixed from the first entry on, so that they are the same for all. */
const fixedByEntry = ["loyaltyBiasEnabled", "loyaltyWeight", "beacon"] as const

export const decide = (state: State, command: Command, moment: Moment): Outcome => {
  const at = Math.max(state.lastAt, moment.now)
  switch (command._tag) {
    case "Configure":
      return configure(state, command, at, moment.entropy)
    case "SetExperienceWindow":
      return Configuring.setWindow(
        state,
        command,
        { isClosed: isClosed(state, at), hasOpened: hasOpened(state, at) },
        at
      )
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
      return grants.deny(statusOf(state, command.consumerId, at), command, at, grantsOf(state, command.consumerId))
    case "Complete":
      return grants.complete(statusOf(state, command.consumerId, at), command, at, grantsOf(state, command.consumerId))
    case "Remove":
      return grants.remove(statusOf(state, command.consumerId, at), command, at, grantsOf(state, command.consumerId))
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
  return Configuring.configured(state, configuration, by, at)
}

/** An absent `openAt` means open from the beginning. */
const hasOpened = (state: State, at: Millis): boolean =>
  state.places.size > 0 || (state.configuration.openAt ?? 0) <= at

/** Whether nothing is left to end. */
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
    case "NOT_ENTERED":
      return new NotEntered()
    case "WON":
    case "COMPLETED":
      return new AlreadyGranted()
    case "DENIED":
      return new WrongStatus({ status })
  }
}

const grantsOf = ({ places }: State, consumerId: string) => places.get(consumerId)?.grants

/** A consumer who left counts as one who never entered. */
const statusOf = (state: State, consumerId: string, at: Millis): Exclude<Status, "LEFT"> | "NOT_ENTERED" => {
  const place = state.places.get(consumerId)
  const status = place === undefined ? "LEFT" : statusAsOf(state, place, at)
  return status === "LEFT" ? "NOT_ENTERED" : status
}
