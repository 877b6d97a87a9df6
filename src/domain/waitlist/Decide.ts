/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import type { ExtractTag } from "effect/Types"
import { unchanged } from "../mechanism/Administration.ts"
import { type ExperienceWindow, withoutOpening, withWindow } from "../experience/ExperienceWindow.ts"
import * as Configuring from "../mechanism/Configuring.ts"
import { expiringGrants } from "../mechanism/extension/Extension.ts"
import { grantRules } from "../mechanism/Grants.ts"
import { Closed, Full, GuestsRefused, NotOpen } from "../mechanism/Refusals.ts"
import { hasOpened, isClosed } from "../mechanism/State.ts"
import { unitRules } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { isEnded, isOffering, placesMax, type State, type Status, statusAsOf, unitUse } from "./State.ts"

export { hasOpened }

type Outcome = ReadonlyArray<Event> | Refusal

const grants = grantRules<State, Status>({ statusOf, waiting: ["ENTERED", "NOTIFIED"], granted: "OFFERED" })

/** The grants that an extension moves. */
export const liveGrants = expiringGrants

/** When to try again at a full waitlist. No one can know when a member leaves. */
const retryAfterSeconds = 60

/** A waitlist collects interest before the experience opens, so the experience's window bounds its closing alone. */
export const windowFor = (_: State, window: ExperienceWindow): ExperienceWindow => withoutOpening(window)

/** The window of a new waitlist bounds its closing alone, too. */
export const created = ({ configuration, by }: ExtractTag<Command, "Configure">, at: Millis): ReadonlyArray<Event> => {
  const window = configuration.experienceWindow && withoutOpening(configuration.experienceWindow)
  return Configuring.first({ configuration: withWindow(configuration, window), by }, at)
}

/** The opening, the stock and the kind of waitlist cannot change once the opening has passed. */
export const fixedSetting = (state: State, next: Configuration, at: Millis): keyof Configuration | undefined => {
  const setting = Configuring.fixedAtOpening(state, next, at)
  if (setting !== undefined) return setting
  const isChanged = (next.offers ?? false) !== (state.configured.offers ?? false)
  return isChanged && hasOpened(state, at) ? "offers" : undefined
}

const enter = (state: State, { consumerId, isGuest }: ExtractTag<Command, "Enter">, at: Millis): Outcome => {
  const place = state.places.get(consumerId)
  const status = place === undefined ? undefined : statusAsOf(state, place, at)
  if (status !== undefined && status !== "LEFT" && status !== "EXPIRED") return unchanged
  if (isClosed(state, at)) return place === undefined ? new Closed() : unchanged
  const { openAt, capacity, supportsGuest = true } = state.configuration
  if (isGuest === true && !supportsGuest) return new GuestsRefused()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (state.members.size >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds })
  }
  const entered: Event = { _tag: "Entered", at, consumerId }
  if (place === undefined || place.status !== "OFFERED") return [entered]
  return [{ _tag: "Expired", at: Math.max(state.lastAt, place.order), consumerId }, entered]
}

function statusOf(state: State, consumerId: string, at: Millis): Status | "NOT_ENTERED" {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_ENTERED" : statusAsOf(state, place, at)
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
  if (place === undefined || statusAsOf(state, place, at) !== "ENTERED" || isOffering(state)) return unchanged
  return [{ _tag: "Notified", at, consumerId, ...(channel !== undefined && { channel }) }]
}

/** Whether nothing is left to end. A waitlist that closed at its time can still be ended, so that no member is notified. */
export const isOver = (state: State, at: Millis): boolean =>
  isEnded(state) || (isClosed(state, at) && state.waiting.size === 0)

/** The decision on each command of a waitlist. */
export const decisions = {
  Enter: enter,
  Leave: grants.leave,
  Remove: grants.remove,
  Deny: grants.deny,
  Complete: grants.complete,
  SettleUnits: unitRules(unitUse).settle,
  ScheduleNotice: scheduleNotice,
  MarkNotified: markNotified
}
