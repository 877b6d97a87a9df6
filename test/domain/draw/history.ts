/**
 * Histories: given these events, when this command, then these events. Instants are written as seconds from `start`.
 */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Command,
  type Configuration,
  decider,
  type DenialReason,
  type Event,
  type Refusal,
  type View
} from "../../../src/domain/draw/Draw.ts"
import { AdminReason } from "../../../src/domain/mechanism/Denial.ts"
import { entryIdOf, type State } from "../../../src/domain/draw/State.ts"
import { History as Told, isEvents } from "../mechanism/support/History.ts"

const isAdminReason = Schema.is(AdminReason)

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

/** An open draw that closes after 100 seconds and draws one winner after 200, except for the settings given. */
export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Raffle",
  timeZone: "UTC",
  closeAt: at(100),
  drawAt: at(200),
  supportsGuest: true,
  winnerCount: 1,
  continueSelectingUntilCompleted: false,
  loyaltyBiasEnabled: false,
  loyaltyWeight: 1,
  ...settings
})

/** Returns a source of entropy with predictable values. */
export const dice = (): (() => string) => {
  let throws = 0
  return () => `${++throws}`.padStart(32, "0")
}

export const seed = "1".padStart(32, "0") + "2".padStart(32, "0")
export const salt = "3".padStart(32, "0")

/** One draw and its events. */
export class History extends Told<State, Command, Event, Refusal, View> {
  constructor() {
    super(decider, { start, unitMillis: 1_000, entropy: dice() })
  }

  enter(seconds: number, ...consumerIds: ReadonlyArray<string>): void {
    for (const consumerId of consumerIds)
      assert(isEvents(this.when(seconds, enter(consumerId))), `${consumerId} is refused`)
  }

  status(seconds: number, consumerId: string): string {
    return this.view(seconds, consumerId).status
  }

  /** Returns the id of the consumer's entry. */
  entryId(consumerId: string): string {
    return entryIdOf(this.state, this.state.places.get(consumerId)!.entry)
  }

  /** The winners, in the order of their wins. */
  get winners(): ReadonlyArray<string> {
    return this.events.flatMap((event) => (event._tag === "Won" ? [event.consumerId] : []))
  }
}

/** Returns a draw with these settings, created at `seconds`, after these events. */
export const given = (
  settings: Partial<Configuration> = {},
  events: ReadonlyArray<Event> = [],
  seconds = 0
): History => {
  const history = new History()
  history.when(seconds, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
  for (const event of events) history.apply(event)
  return history
}

export const enter = (consumerId: string, loyaltyScore = 0): Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: false,
  loyaltyScore
})
export const enterAsGuest = (consumerId: string): Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: true,
  loyaltyScore: 0
})
export const leave = (consumerId: string): Command => ({ _tag: "Leave", consumerId })
export const complete = (consumerId: string): Command => ({ _tag: "Complete", consumerId, by: "admin" })
export const deny = (consumerId: string): Command => ({
  _tag: "Deny",
  consumerId,
  reason: "FRAUD_DETECTED",
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

export const entered = (seconds: number, consumerId: string, loyaltyScore = 0): Event => ({
  _tag: "Entered",
  at: at(seconds),
  consumerId,
  ...(loyaltyScore > 0 && { loyaltyScore })
})
export const won = (seconds: number, consumerId: string): Event => ({ _tag: "Won", at: at(seconds), consumerId })
export const drawn = (seconds: number): Event => ({ _tag: "Drawn", at: at(seconds) })
export const byAdmin = (event: Event): Event => ({ ...event, by: "admin" }) as Event
export const expired = (seconds: number, consumerId: string): Event => ({
  _tag: "Expired",
  at: at(seconds),
  consumerId
})
export const completed = (seconds: number, consumerId: string): Event => ({
  _tag: "Completed",
  at: at(seconds),
  consumerId,
  by: "admin"
})
export const left = (seconds: number, consumerId: string): Event => ({ _tag: "Left", at: at(seconds), consumerId })
/** By hand, or with a reason of the draw's own. */
export const denied = (seconds: number, consumerId: string, reason: DenialReason = "FRAUD_DETECTED"): Event => ({
  _tag: "Denied",
  at: at(seconds),
  consumerId,
  reason,
  ...(isAdminReason(reason) && { by: "admin" })
})
export const ended = (seconds: number): Event => ({ _tag: "Ended", at: at(seconds), by: "admin" })
export const archived = (seconds: number): Event => ({ _tag: "Archived", at: at(seconds), by: "admin" })
export const closed = (seconds: number): Event => ({ _tag: "Closed", at: at(seconds) })
export const tornDown = (seconds: number): Event => ({ _tag: "TornDown", at: at(seconds) })

/** Returns the events without the one that fixes the list. */
export const withoutFixing = (events: ReadonlyArray<Event>): ReadonlyArray<Event> =>
  events.filter(({ _tag }) => _tag !== "EntriesFixed")
