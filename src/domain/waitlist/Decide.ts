/**
 * What each command leads to: events, none if it changes nothing, or a refusal. Deadlines count as they stand at `now`,
 * whether or not their events were applied yet.
 */
import { Equal } from "effect"
import { authored } from "../mechanism/Author.ts"
import type { Moment } from "../mechanism/Decider.ts"
import { movedTo, withoutOpening, withWindow } from "../experience/ExperienceWindow.ts"
import * as Lifecycle from "../mechanism/Lifecycle.ts"
import { Closed, ConfigurationFixed, Full, NotOpen, WrongStatus } from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { isClosed, isEnded, placesMax, type State, statusOf } from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal
type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

const unchanged: ReadonlyArray<Event> = []

/** When to ask again at a full waitlist: a member may leave, but nobody can know. */
const retryAfterSeconds = 60

export const decide = (state: State, command: Command, { now }: Moment): Outcome => {
  const at = Math.max(state.lastAt, now)
  switch (command._tag) {
    case "Configure":
      return configure(state, command, at)
    case "SetExperienceWindow":
      return setWindow(state, command, at)
    case "End":
      return Lifecycle.end(isSettled(state, at), command.by, at)
    case "Archive":
      return Lifecycle.archive(state, isSettled(state, at), command.by, at)
    case "Enter":
      return enter(state, command, at)
    case "Leave":
      return leave(state, command, at)
    case "Remove":
      return remove(state, command, at)
    case "ScheduleNotice":
      return scheduleNotice(state, command, at)
    case "MarkNotified":
      return markNotified(state, command, at)
  }
}

const configure = (state: State, { configuration: wanted, by }: CommandOf<"Configure">, at: Millis): Outcome => {
  if (state.sequence === 0) return [{ _tag: "Configured", at, configuration: boundedInClosing(wanted), by }]
  if (isClosed(state, at)) return new Closed()
  const { configured } = state
  const configuration = withWindow(wanted, configured.experienceWindow)
  if (hasOpened(state, at) && configuration.openAt !== configured.openAt) {
    return new ConfigurationFixed({ setting: "openAt" })
  }
  return Equal.equals(configuration, configured) ? unchanged : [{ _tag: "Configured", at, configuration, by }]
}

/** It collects interest before the experience opens, so that the experience's window bounds its closing alone. */
const boundedInClosing = (wanted: Configuration): Configuration =>
  withWindow(wanted, wanted.experienceWindow && withoutOpening(wanted.experienceWindow))

/** A mechanism that has closed stays closed, whatever becomes of its experience. */
const setWindow = (state: State, { window, by }: CommandOf<"SetExperienceWindow">, at: Millis): Outcome => {
  const configuration = isClosed(state, at)
    ? undefined
    : movedTo(state.configured, withoutOpening(window), hasOpened(state, at))
  return configuration === undefined ? unchanged : [{ _tag: "Configured", at, configuration, by }]
}

/** An absent `openAt` means open from the beginning. */
const hasOpened = (state: State, at: Millis): boolean =>
  state.places.size > 0 || (state.configuration.openAt ?? 0) <= at

const enter = (state: State, { consumerId }: CommandOf<"Enter">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  if (place !== undefined && statusOf(state, place) !== "LEFT") return unchanged
  if (isClosed(state, at)) return place === undefined ? new Closed() : unchanged
  const { openAt, capacity } = state.configuration
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (state.members.size >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds })
  }
  return [{ _tag: "Entered", at, consumerId }]
}

const leave = (state: State, { consumerId, by }: CommandOf<"Leave">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  const status = place === undefined ? "NOT_ENTERED" : statusOf(state, place)
  if (status === "LEFT") return unchanged
  return status === "ENTERED" || status === "NOTIFIED"
    ? [{ _tag: "Left", at, consumerId, ...authored(by) }]
    : new WrongStatus({ status })
}

const remove = (state: State, { consumerId, by }: CommandOf<"Remove">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  const status = place === undefined ? "NOT_ENTERED" : statusOf(state, place)
  return status === "ENTERED" || status === "NOTIFIED" ? [{ _tag: "Left", at, consumerId, by }] : unchanged
}

const scheduleNotice = (state: State, { at: noticeAt }: CommandOf<"ScheduleNotice">, at: Millis): Outcome => {
  if (isEnded(state) || state.tornDown || (noticeAt ?? Infinity) === state.noticeAt) return unchanged
  return [{ _tag: "NoticeScheduled", at, ...(noticeAt !== undefined && { noticeAt }) }]
}

const markNotified = (state: State, { consumerId, channel }: CommandOf<"MarkNotified">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  if (place === undefined || statusOf(state, place) !== "ENTERED") return unchanged
  return [{ _tag: "Notified", at, consumerId, ...(channel !== undefined && { channel }) }]
}

/** Whether there is nothing left to end: closed at its time it can still be ended, so that nobody is notified. */
const isSettled = (state: State, at: Millis): boolean =>
  isEnded(state) || (isClosed(state, at) && state.waiting.size === 0)
