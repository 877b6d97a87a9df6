/**
 * What each command leads to: events, none if it changes nothing, or a refusal. Deadlines count as they stand at `now`,
 * whether or not their events were applied yet.
 */
import { Equal } from "effect"
import { authored } from "../mechanism/Author.ts"
import type { Moment } from "../mechanism/Decider.ts"
import { movedTo, withWindow } from "../experience/ExperienceWindow.ts"
import * as Lifecycle from "../mechanism/Lifecycle.ts"
import {
  Closed,
  ConfigurationFixed,
  GuestsRefused,
  NotOpen,
  SoldOut,
  UnknownVariant,
  WrongStatus
} from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { hasExpired, isClosed, type Place, placesMax, type State, statusAsOf, unitsLeft } from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal
type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

const unchanged: ReadonlyArray<Event> = []

export const decide = (state: State, command: Command, { now }: Moment): Outcome => {
  const at = Math.max(state.lastAt, now)
  switch (command._tag) {
    case "Configure":
      return configure(state, command, at)
    case "SetExperienceWindow":
      return setWindow(state, command, at)
    case "End":
      return Lifecycle.end(isClosed(state, at), command.by, at)
    case "Archive":
      return Lifecycle.archive(state, isClosed(state, at), command.by, at)
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

const configure = (state: State, { configuration: wanted, by }: CommandOf<"Configure">, at: Millis): Outcome => {
  if (state.sequence === 0) return [{ _tag: "Configured", at, configuration: wanted, by }]
  if (isClosed(state, at)) return new Closed()
  const { configured } = state
  const configuration = withWindow(wanted, configured.experienceWindow)
  if (hasOpened(state, at) && configuration.openAt !== configured.openAt) {
    return new ConfigurationFixed({ setting: "openAt" })
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

const enter = (state: State, command: CommandOf<"Enter">, at: Millis): Outcome => {
  const { consumerId, isGuest, variantId } = command
  const place = state.places.get(consumerId)
  const status = place === undefined ? undefined : statusAsOf(place, at)
  if (status === "ENTERED") return select(state, place!, command, at)
  if (status === "COMPLETED" || status === "DENIED") return unchanged
  if (isClosed(state, at)) return status === undefined ? new Closed() : unchanged
  const { supportsGuest, openAt } = state.configuration
  if (isGuest && !supportsGuest) return new GuestsRefused()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (!isOffered(state, command)) return new UnknownVariant()
  const expired = unnoticedExpiry(state, place, at)
  if (unitsLeft(state) + (expired === undefined ? 0 : 1) <= 0) return soldOut(state, at)
  if (place === undefined && state.places.size >= placesMax) return new SoldOut({})
  const entered: Event = { _tag: "Entered", at, consumerId, ...(variantId !== undefined && { variantId }) }
  if (expired === undefined) return [entered]
  return [{ _tag: "Expired", at: Math.max(state.lastAt, expired.order), consumerId: expired.consumerId }, entered]
}

/** The selection belongs to the grant: it can be changed while the grant lives, also after the closing. */
const select = (state: State, place: Place, command: CommandOf<"Enter">, at: Millis): Outcome => {
  const { variantId } = command
  if (variantId === undefined || variantId === place.variantId) return unchanged
  if (!isOffered(state, command)) return new UnknownVariant()
  return [{ _tag: "Selected", at, consumerId: place.consumerId, variantId }]
}

const leave = (state: State, { consumerId, by }: CommandOf<"Leave">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "LEFT") return unchanged
  return status === "ENTERED" ? [{ _tag: "Left", at, consumerId, ...authored(by) }] : new WrongStatus({ status })
}

const deny = (state: State, { consumerId, reason, by }: CommandOf<"Deny">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "DENIED") return unchanged
  return status === "ENTERED" ? [{ _tag: "Denied", at, consumerId, reason, by }] : new WrongStatus({ status })
}

const complete = (state: State, { consumerId, by }: CommandOf<"Complete">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "COMPLETED") return unchanged
  return status === "ENTERED" ? [{ _tag: "Completed", at, consumerId, by }] : new WrongStatus({ status })
}

const remove = (state: State, { consumerId, by }: CommandOf<"Remove">, at: Millis): Outcome =>
  statusOf(state, consumerId, at) === "ENTERED"
    ? [{ _tag: "Denied", at, consumerId, reason: "ADMIN_ACTION", by }]
    : unchanged

const statusOf = (state: State, consumerId: string, at: Millis) => {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_ENTERED" : statusAsOf(place, at)
}

const isOffered = ({ offered }: State, { variantId, isUnassigned, isNotOffered }: CommandOf<"Enter">): boolean =>
  variantId === undefined ||
  (isUnassigned !== true && (offered === undefined ? isNotOffered !== true : offered.has(variantId)))

/**
 * A grant whose time is over though nobody has noticed, and which must have ended before this entry: the consumer's own,
 * or the one whose unit the entry takes.
 */
const unnoticedExpiry = (state: State, own: Place | undefined, at: Millis): Place | undefined => {
  if (own !== undefined && hasExpired(own, at)) return own
  const next = state.expiring.first
  return unitsLeft(state) <= 0 && next !== undefined && hasExpired(next, at) ? next : undefined
}

/** A unit comes back when the next grant expires, if the release is still open then. */
const soldOut = (state: State, at: Millis): SoldOut => {
  const freeAt = state.expiring.first?.order ?? Infinity
  const lasts = freeAt < (state.configuration.closeAt ?? Infinity)
  return new SoldOut(freeAt !== Infinity && lasts ? { retryAfterSeconds: Math.ceil((freeAt - at) / 1000) } : {})
}
