/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import type { ExtractTag } from "effect/Types"
import { authored } from "../mechanism/Author.ts"
import { unchanged } from "../mechanism/Administration.ts"
import { type ExperienceWindow, withoutOpening, withWindow } from "../experience/ExperienceWindow.ts"
import * as Configuring from "../mechanism/Configuring.ts"
import { Closed, Full, GuestsRefused, NotOpen, WrongStatus } from "../mechanism/Refusals.ts"
import { isClosed } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { isEnded, placesMax, type State, statusOf } from "./State.ts"

export { hasOpened } from "../mechanism/State.ts"

type Outcome = ReadonlyArray<Event> | Refusal

/** When to try again at a full waitlist. No one can know when a member leaves. */
const retryAfterSeconds = 60

/** A waitlist collects interest before the experience opens, so the experience's window bounds its closing alone. */
export const windowFor = (_: State, window: ExperienceWindow): ExperienceWindow => withoutOpening(window)

/** The window of a new waitlist bounds its closing alone, too. */
export const created = ({ configuration, by }: ExtractTag<Command, "Configure">, at: Millis): ReadonlyArray<Event> => {
  const window = configuration.experienceWindow && withoutOpening(configuration.experienceWindow)
  return Configuring.first({ configuration: withWindow(configuration, window), by }, at)
}

/** The opening cannot change once it has passed. */
export const fixedSetting = Configuring.fixedOpening

const enter = (state: State, { consumerId, isGuest }: ExtractTag<Command, "Enter">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  if (place !== undefined && statusOf(state, place) !== "LEFT") return unchanged
  if (isClosed(state, at)) return place === undefined ? new Closed() : unchanged
  const { openAt, capacity, supportsGuest = true } = state.configuration
  if (isGuest === true && !supportsGuest) return new GuestsRefused()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (state.members.size >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds })
  }
  return [{ _tag: "Entered", at, consumerId }]
}

const leave = (state: State, { consumerId, by }: ExtractTag<Command, "Leave">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  const status = place === undefined ? "NOT_ENTERED" : statusOf(state, place)
  if (status === "LEFT") return unchanged
  return status === "ENTERED" || status === "NOTIFIED"
    ? [{ _tag: "Left", at, consumerId, ...authored(by) }]
    : new WrongStatus({ status })
}

const remove = (state: State, { consumerId, by }: ExtractTag<Command, "Remove">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  const status = place === undefined ? "NOT_ENTERED" : statusOf(state, place)
  return status === "ENTERED" || status === "NOTIFIED" ? [{ _tag: "Left", at, consumerId, by }] : unchanged
}

const scheduleNotice = (state: State, { at: noticeAt }: ExtractTag<Command, "ScheduleNotice">, at: Millis): Outcome => {
  if (isEnded(state) || state.tornDown || (noticeAt ?? Infinity) === state.noticeAt) return unchanged
  return [{ _tag: "NoticeScheduled", at, ...(noticeAt !== undefined && { noticeAt }) }]
}

const markNotified = (
  state: State,
  { consumerId, channel }: ExtractTag<Command, "MarkNotified">,
  at: Millis
): Outcome => {
  const place = state.places.get(consumerId)
  if (place === undefined || statusOf(state, place) !== "ENTERED") return unchanged
  return [{ _tag: "Notified", at, consumerId, ...(channel !== undefined && { channel }) }]
}

/** Whether nothing is left to end. A waitlist that closed at its time can still be ended, so that no member is notified. */
export const isOver = (state: State, at: Millis): boolean =>
  isEnded(state) || (isClosed(state, at) && state.waiting.size === 0)

/** The decision on each command of a waitlist. */
export const decisions = {
  Enter: enter,
  Leave: leave,
  Remove: remove,
  ScheduleNotice: scheduleNotice,
  MarkNotified: markNotified
}
