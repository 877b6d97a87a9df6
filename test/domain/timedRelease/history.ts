/**
 * Histories: given these events, when this command, then these events. Instants are written as seconds from `start`.
 */
import {
  type Command,
  type Configuration,
  decider,
  type Event,
  type Refusal,
  type View
} from "../../../src/domain/timedRelease/TimedRelease.ts"
import type { AdminReason } from "../../../src/domain/mechanism/Denial.ts"
import type { State } from "../../../src/domain/timedRelease/State.ts"
import { History as Told, noEntropy } from "../mechanism/support/History.ts"

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

export const text = (seconds: number): string => new Date(at(seconds)).toISOString()

/** An open timed release without limits, except for the settings given. */
export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Release",
  timeZone: "UTC",
  supportsGuest: true,
  ...settings
})

/** One timed release and its events. */
export class History extends Told<State, Command, Event, Refusal, View> {
  constructor() {
    super(decider, { start, unitMillis: 1_000, entropy: noEntropy })
  }

  status(seconds: number, consumerId: string): string {
    return this.view(seconds, consumerId).status
  }
}

/** Returns a timed release with these settings, created at `seconds`, after these events. */
export const given = (
  settings: Partial<Configuration> = {},
  events: ReadonlyArray<Event> = [],
  seconds = 0
): History => {
  const history = new History()
  history.when(seconds, configure(settings))
  for (const event of events) history.apply(event)
  return history
}

export const enter = (consumerId: string, variantId?: string): Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: false,
  ...(variantId !== undefined && { variantId })
})
export const enterAsGuest = (consumerId: string): Command => ({ _tag: "Enter", consumerId, isGuest: true })
export const leave = (consumerId: string): Command => ({ _tag: "Leave", consumerId })
export const complete = (consumerId: string): Command => ({ _tag: "Complete", consumerId, by: "admin" })
export const deny = (consumerId: string, reason: AdminReason = "FRAUD_DETECTED"): Command => ({
  _tag: "Deny",
  consumerId,
  reason,
  by: "admin"
})
export const remove = (consumerId: string): Command => ({ _tag: "Remove", consumerId, by: "admin" })
export const end: Command = { _tag: "End", by: "admin" }
export const archive: Command = { _tag: "Archive", by: "admin" }
export const configure = (settings: Partial<Configuration>): Command => ({
  _tag: "Configure",
  configuration: configuration(settings),
  by: "admin"
})

export const entered = (seconds: number, consumerId: string, variantId?: string): Event => ({
  _tag: "Entered",
  at: at(seconds),
  consumerId,
  ...(variantId !== undefined && { variantId })
})
export const selected = (seconds: number, consumerId: string, variantId: string): Event => ({
  _tag: "Selected",
  at: at(seconds),
  consumerId,
  variantId
})
const happened =
  (tag: "Expired" | "Left") =>
  (seconds: number, consumerId: string): Event => ({ _tag: tag, at: at(seconds), consumerId })
export const expired = happened("Expired")
export const completed = (seconds: number, consumerId: string): Event => ({
  _tag: "Completed",
  at: at(seconds),
  consumerId,
  by: "admin"
})
export const left = happened("Left")
export const denied = (seconds: number, consumerId: string, reason: AdminReason = "FRAUD_DETECTED"): Event => ({
  _tag: "Denied",
  at: at(seconds),
  consumerId,
  reason,
  by: "admin"
})
export const ended = (seconds: number): Event => ({ _tag: "Ended", at: at(seconds), by: "admin" })
export const archived = (seconds: number): Event => ({ _tag: "Archived", at: at(seconds), by: "admin" })
export const closed = (seconds: number): Event => ({ _tag: "Closed", at: at(seconds) })
export const tornDown = (seconds: number): Event => ({ _tag: "TornDown", at: at(seconds) })
