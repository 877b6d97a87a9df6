/**
 * Histories: given these events, when this command, then these events. Instants are written as seconds from `start`.
 */
import { assert } from "@effect/vitest"
import {
  type AdminReason,
  type Command,
  type Configuration,
  decider,
  type Event,
  type Refusal,
  type View
} from "../../../src/domain/queue/Queue.ts"
import type { State } from "../../../src/domain/queue/State.ts"
import { History as Told, isEvents } from "../mechanism/support/History.ts"

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

/** An open queue with admission by hand, except for the settings given. */
export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Drop",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60,
  ...settings
})

export const seed = "00000001000000020000000300000004"

/** One queue and its events. */
export class History extends Told<State, Command, Event, Refusal, View> {
  constructor() {
    super(decider, { start, unitMillis: 1_000, entropy: () => seed })
  }

  enter(seconds: number, ...consumerIds: ReadonlyArray<string>): void {
    for (const consumerId of consumerIds)
      assert(isEvents(this.when(seconds, enter(consumerId))), `${consumerId} is refused`)
  }

  status(seconds: number, consumerId: string): string {
    return this.view(seconds, consumerId).status
  }

  position(seconds: number, consumerId: string): number | undefined {
    const view = this.view(seconds, consumerId)
    return view.status === "QUEUED" ? view.position : undefined
  }
}

/** Returns a queue with these settings, created at `seconds`, after these events. */
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
export const admit = (consumerId: string): Command => ({ _tag: "Admit", consumerId, by: "admin" })
export const complete = (consumerId: string): Command => ({ _tag: "Complete", consumerId, by: "admin" })
export const deny = (consumerId: string): Command => ({
  _tag: "Deny",
  consumerId,
  reason: "FRAUD_DETECTED",
  by: "admin"
})
/** The consumer was seen with the grant of this sequence. */
export const renew = (consumerId: string, grantSequence: number): Command => ({
  _tag: "Renew",
  consumerId,
  grantSequence
})
export const remove = (consumerId: string): Command => ({ _tag: "Remove", consumerId, by: "admin" })
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
/** By rate. */
export const granted = (seconds: number, consumerId: string): Event => ({
  _tag: "Granted",
  at: at(seconds),
  consumerId
})
export const admitted = (seconds: number, consumerId: string): Event => ({
  _tag: "Granted",
  at: at(seconds),
  consumerId,
  by: "admin"
})
export const byAdmin = (event: Event): Event => ({ ...event, by: "admin" }) as Event
export const expired = (seconds: number, consumerId: string): Event => ({
  _tag: "Expired",
  at: at(seconds),
  consumerId
})
export const renewed = (seconds: number, consumerId: string, until: number): Event => ({
  _tag: "Renewed",
  at: at(seconds),
  consumerId,
  expiresAt: at(until)
})
export const completed = (seconds: number, consumerId: string): Event => ({
  _tag: "Completed",
  at: at(seconds),
  consumerId,
  by: "admin"
})
export const left = (seconds: number, consumerId: string): Event => ({ _tag: "Left", at: at(seconds), consumerId })
/** By hand. */
export const denied = (seconds: number, consumerId: string, reason: AdminReason = "FRAUD_DETECTED"): Event => ({
  _tag: "Denied",
  at: at(seconds),
  consumerId,
  reason,
  by: "admin"
})
export const deniedAsClosed = (seconds: number, consumerId: string): Event => ({
  _tag: "Denied",
  at: at(seconds),
  consumerId,
  reason: "QUEUE_CLOSED"
})
export const ended = (seconds: number): Event => ({ _tag: "Ended", at: at(seconds), by: "admin" })
export const archived = (seconds: number): Event => ({ _tag: "Archived", at: at(seconds), by: "admin" })
export const closed = (seconds: number): Event => ({ _tag: "Closed", at: at(seconds) })
export const tornDown = (seconds: number): Event => ({ _tag: "TornDown", at: at(seconds) })

/** Returns when the consumers were admitted by rate, in milliseconds from the start. */
export const admissions = (events: ReadonlyArray<Event>): ReadonlyArray<number> =>
  events.flatMap((event) => (event._tag === "Granted" && event.by === undefined ? [event.at - start] : []))

/** The names of so many consumers. */
export const consumers = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `c${index}`)

/** A queue in which `count` consumers have waited since the start. */
export const crowd = (settings: Parameters<typeof given>[0], count: number): History =>
  given(
    settings,
    consumers(count).map((consumerId) => entered(0, consumerId))
  )
