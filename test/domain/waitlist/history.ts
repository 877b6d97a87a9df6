/**
 * Histories: given these events, when this command, then these events. Instants are written as seconds from `start`.
 */
import {
  type Channel,
  type Command,
  type Configuration,
  decider,
  type Event,
  type Refusal,
  type View
} from "../../../src/domain/waitlist/Waitlist.ts"
import type { State } from "../../../src/domain/waitlist/State.ts"
import { History as Told, noEntropy } from "../mechanism/support/History.ts"

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

export const text = (seconds: number): string => new Date(at(seconds)).toISOString()

/** An open waitlist without limits, except for the settings given. */
export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Waitlist",
  timeZone: "UTC",
  ...settings
})

/** One waitlist and its events. */
export class History extends Told<State, Command, Event, Refusal, View> {
  constructor() {
    super(decider, { start, unitMillis: 1_000, entropy: noEntropy })
  }

  /** Returns the consumer's view after the last event. */
  standing(consumerId: string): View {
    return decider.view(this.state, consumerId, this.state.lastAt)
  }

  /** Returns the consumers' positions; undefined for those that are not members. */
  positions(...consumerIds: ReadonlyArray<string>): ReadonlyArray<number | undefined> {
    return consumerIds.map((consumerId) => {
      const view = this.standing(consumerId)
      return "position" in view ? view.position : undefined
    })
  }
}

/** Returns a waitlist with these settings, after these events. */
export const given = (settings: Partial<Configuration> = {}, events: ReadonlyArray<Event> = []): History => {
  const history = new History()
  history.when(0, configure(settings))
  for (const event of events) history.apply(event)
  return history
}

export const enter = (consumerId: string): Command => ({ _tag: "Enter", consumerId })
export const leave = (consumerId: string): Command => ({ _tag: "Leave", consumerId })
export const remove = (consumerId: string): Command => ({ _tag: "Remove", consumerId, by: "admin" })
export const markNotified = (consumerId: string, channel?: Channel): Command => ({
  _tag: "MarkNotified",
  consumerId,
  ...(channel !== undefined && { channel })
})
/** Seconds; undefined: it is not known to open. */
export const scheduleNotice = (seconds?: number): Command => ({
  _tag: "ScheduleNotice",
  ...(seconds !== undefined && { at: at(seconds) })
})
export const end: Command = { _tag: "End", by: "admin" }
export const archive: Command = { _tag: "Archive", by: "admin" }
export const configure = (settings: Partial<Configuration>): Command => ({
  _tag: "Configure",
  configuration: configuration(settings),
  by: "admin"
})

export const entered = (seconds: number, consumerId: string): Event => ({
  _tag: "Entered",
  at: at(seconds),
  consumerId
})
export const left = (seconds: number, consumerId: string): Event => ({ _tag: "Left", at: at(seconds), consumerId })
export const byAdmin = (event: Event): Event => ({ ...event, by: "admin" }) as Event
export const denied = (seconds: number, consumerId: string): Event => ({ _tag: "Denied", at: at(seconds), consumerId })
export const notified = (seconds: number, consumerId: string, channel?: Channel): Event => ({
  _tag: "Notified",
  at: at(seconds),
  consumerId,
  ...(channel !== undefined && { channel })
})
export const noticeScheduled = (seconds: number, noticeSeconds?: number): Event => ({
  _tag: "NoticeScheduled",
  at: at(seconds),
  ...(noticeSeconds !== undefined && { noticeAt: at(noticeSeconds) })
})
export const noticeDue = (seconds: number): Event => ({ _tag: "NoticeDue", at: at(seconds) })
export const ended = (seconds: number): Event => ({ _tag: "Ended", at: at(seconds), by: "admin" })
export const archived = (seconds: number): Event => ({ _tag: "Archived", at: at(seconds), by: "admin" })
export const closed = (seconds: number): Event => ({ _tag: "Closed", at: at(seconds) })
export const tornDown = (seconds: number): Event => ({ _tag: "TornDown", at: at(seconds) })
