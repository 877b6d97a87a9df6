/**
 * The commands, refusals, views and facts of an appointment (completions 3, "Appointment").
 *
 * | status     | becomes, by the consumer                      | by an admin                                  | at the slot's end |
 * |------------|-----------------------------------------------|----------------------------------------------|-------------------|
 * | BOOKED     | CANCELLED, or another slot, before the slot   | CHECKED_IN, COMPLETED; NO_SHOW once it began | NO_SHOW           |
 * | CHECKED_IN |                                               | COMPLETED; NO_SHOW once it began             | COMPLETED         |
 * | NO_SHOW    |                                               | CHECKED_IN before its end; COMPLETED         |                   |
 * | CANCELLED  | BOOKED again, while the appointment is open   |                                              |                   |
 * | COMPLETED  |                                               |                                              |                   |
 *
 * Removing an archived consumer cancels its BOOKED or CHECKED_IN booking.
 * A consumer can cancel while the appointment is not open, but can book a slot only while it is open.
 */
import type { HashMap } from "effect"
import type { Administration } from "../mechanism/Administration.ts"
import type { WithRisk } from "../mechanism/EntryRisk.ts"
import type {
  AlreadyBooked,
  Closed,
  ConfigurationFixed,
  Full,
  GuestsRefused,
  NotOpen,
  SlotFull,
  SlotNotBegun,
  SlotPast,
  UnknownLocation,
  UnknownSlot,
  WrongStatus
} from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { BookingName } from "./Names.ts"
import type { Slot, Timetable } from "./Timetable.ts"

/** The statuses of a booking. */
export const statuses = ["BOOKED", "CHECKED_IN", "COMPLETED", "CANCELLED", "NO_SHOW"] as const
export type Status = (typeof statuses)[number]

/** The beginning of the requested slot; undefined if the request names no slot of this appointment. */
type RequestedSlot = Millis | undefined

/**
 * A command from an admin or a consumer; `by` is the name of the API key that was used. `Remove` cancels the booking of
 * an archived consumer.
 */
export type Command =
  | Administration<Configuration>
  | (WithRisk & {
      readonly _tag: "Book"
      readonly consumerId: string
      readonly isGuest?: boolean
      readonly startTime: RequestedSlot
      /** The location that the consumer requests, if any. */
      readonly locationId?: string | undefined
    })
  | {
      readonly _tag: "Reschedule"
      readonly consumerId: string
      readonly startTime: RequestedSlot
      readonly by?: string | undefined
    }
  | { readonly _tag: "Cancel"; readonly consumerId: string; readonly by?: string | undefined }
  | { readonly _tag: "CheckIn"; readonly consumerId: string; readonly by: string }
  | { readonly _tag: "Complete"; readonly consumerId: string; readonly by: string }
  | { readonly _tag: "Miss"; readonly consumerId: string; readonly by: string }
  | { readonly _tag: "Remove"; readonly consumerId: string; readonly by: string }

/** Every refusal of an appointment. */
export type Refusal =
  | NotOpen
  | Closed
  | Full
  | GuestsRefused
  | AlreadyBooked
  | SlotFull
  | SlotPast
  | SlotNotBegun
  | UnknownSlot
  | UnknownLocation
  | WrongStatus
  | ConfigurationFixed

/** A consumer's own view of its booking. */
export type View =
  | { readonly status: "NOT_BOOKED" }
  | (BookingName & Slot & { readonly status: Status; readonly createdAt: Millis })

/** What the bookings of one slot take. */
export interface Taken {
  readonly endTime: Millis
  readonly places: number
}

/** The taken places by the slots' beginnings. Persistent: a reader's copy never changes. */
export type TakenSlots = HashMap.HashMap<Millis, Taken>

/** The public facts: the slots, and the places that are left in them. */
export interface Facts {
  readonly now: Millis
  readonly timeZone: string
  readonly locationId: string | undefined
  readonly timetable: Timetable
  /** The number of places in each slot. */
  readonly capacity: number
  /** False if no slot can be booked any more. */
  readonly isOpenStill: boolean
  readonly taken: TakenSlots
}
