/**
 * Histories: given these events, when this command, then these events. Instants are minutes from `start`, a Monday at
 * 08:00. The slots of that day last from 09:00 to 17:00, half an hour each: slot 0 from minute 60, slot 1 from minute
 * 90.
 */
import {
  type Command,
  type Configuration,
  decider,
  type Event,
  type Facts,
  offeredSlots,
  type Refusal,
  type View
} from "../../../src/domain/appointment/Appointment.ts"
import { defaultHours } from "../../../src/domain/appointment/Hours.ts"
import type { State } from "../../../src/domain/appointment/State.ts"
import { History as Told } from "../mechanism/support/History.ts"

export const start = Date.parse("2026-11-23T08:00:00.000Z")

/** Returns the instant so many minutes after the start. */
export const at = (minutes: number): number => Math.round(start + minutes * 60_000)

/** Returns when the slot begins, in minutes. */
export const begin = (slot: number): number => 60 + slot * 30
export const end = (slot: number): number => begin(slot) + 30

const times = (slot: number) => ({ startTime: at(begin(slot)), endTime: at(end(slot)) })

/**
 * A week of fittings, one consumer in each slot, open from the start until it is ended, except for the settings given.
 */
export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Fitting",
  timeZone: "UTC",
  slotsFrom: start,
  slotsUntil: start + 7 * 86_400_000,
  hours: defaultHours,
  slotDurationMinutes: 30,
  bufferMinutes: 0,
  maxCapacityPerSlot: 1,
  ...settings
})

export const entropy = "00112233445566778899aabbccddeeff"

/** One appointment and its events. */
export class History extends Told<State, Command, Event, Refusal, View> {
  constructor() {
    super(decider, { start, unitMillis: 60_000, entropy: () => entropy })
  }

  status(minutes: number, consumerId: string): string {
    return this.view(minutes, consumerId).status
  }

  facts(minutes: number): Facts {
    return decider.facts!(this.state, at(minutes))
  }

  /** Returns how many places of a slot can be booked; undefined if the slot is not shown. */
  available(minutes: number, slot: number): number | undefined {
    const { startTime } = times(slot)
    return [...offeredSlots(this.facts(minutes), { from: startTime, to: startTime + 1 })][0]?.available
  }
}

/** Returns an appointment with these settings, after these events. */
export const given = (settings: Partial<Configuration> = {}, events: ReadonlyArray<Event> = []): History => {
  const history = new History()
  history.when(0, configure(settings))
  for (const event of events) history.apply(event)
  return history
}

export const book = (consumerId: string, slot: number, locationId?: string): Command => ({
  _tag: "Book",
  consumerId,
  startTime: at(begin(slot)),
  locationId
})
export const reschedule = (consumerId: string, slot: number): Command => ({
  _tag: "Reschedule",
  consumerId,
  startTime: at(begin(slot))
})
export const cancel = (consumerId: string): Command => ({ _tag: "Cancel", consumerId })
export const checkIn = (consumerId: string): Command => ({ _tag: "CheckIn", consumerId, by: "admin" })
export const complete = (consumerId: string): Command => ({ _tag: "Complete", consumerId, by: "admin" })
export const miss = (consumerId: string): Command => ({ _tag: "Miss", consumerId, by: "admin" })
export const remove = (consumerId: string): Command => ({ _tag: "Remove", consumerId, by: "admin" })
export const endNow: Command = { _tag: "End", by: "admin" }
export const archive: Command = { _tag: "Archive", by: "admin" }
export const configure = (settings: Partial<Configuration>): Command => ({
  _tag: "Configure",
  configuration: configuration(settings),
  by: "admin"
})

/** With the name that {@link entropy} gives it. */
export const booked = (minutes: number, consumerId: string, slot: number): Event => ({
  _tag: "Booked",
  at: at(minutes),
  consumerId,
  ...times(slot),
  bookingId: `${at(minutes).toString(16).padStart(12, "0").replace(/^.{8}/, "$&-")}-7001-9223-344556677889`,
  confirmationCode: "YGMTVPCM"
})
export const rescheduled = (minutes: number, consumerId: string, slot: number): Event => ({
  _tag: "Rescheduled",
  at: at(minutes),
  consumerId,
  ...times(slot)
})
export const cancelled = (minutes: number, consumerId: string): Event => ({
  _tag: "Cancelled",
  at: at(minutes),
  consumerId
})
export const checkedIn = (minutes: number, consumerId: string): Event => ({
  _tag: "CheckedIn",
  at: at(minutes),
  consumerId,
  by: "admin"
})
/** By time. */
export const completed = (minutes: number, consumerId: string): Event => ({
  _tag: "Completed",
  at: at(minutes),
  consumerId
})
export const missed = (minutes: number, consumerId: string): Event => ({ _tag: "Missed", at: at(minutes), consumerId })
export const byAdmin = (event: Event): Event => ({ ...event, by: "admin" }) as Event
export const ended = (minutes: number): Event => ({ _tag: "Ended", at: at(minutes), by: "admin" })
export const archived = (minutes: number): Event => ({ _tag: "Archived", at: at(minutes), by: "admin" })
export const closed = (minutes: number): Event => ({ _tag: "Closed", at: at(minutes) })
export const tornDown = (minutes: number): Event => ({ _tag: "TornDown", at: at(minutes) })
