/**
 * The commands, refusals, views and facts of an appointment.
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
import type { Administration, AdminPlaceCommand, PlaceCommand } from "../mechanism/Administration.ts"
import type { WithRisk } from "../mechanism/EntryRisk.ts"
import type {
  AlreadyBooked,
  CommonRefusal,
  Full,
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

export const statuses = ["BOOKED", "CHECKED_IN", "COMPLETED", "CANCELLED", "NO_SHOW"] as const
export type Status = (typeof statuses)[number]

/** The beginning of the requested slot; undefined if the request names no slot of this appointment. */
type RequestedSlot = Millis | undefined

/**
 * A command from an admin or a consumer; `by` names the author. `Remove` cancels the booking of an archived consumer.
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
  | (PlaceCommand<"Reschedule"> & { readonly startTime: RequestedSlot })
  | PlaceCommand<"Cancel">
  | AdminPlaceCommand<"CheckIn">
  | AdminPlaceCommand<"Complete">
  | AdminPlaceCommand<"Miss">
  | AdminPlaceCommand<"Remove">

/** Every refusal of an appointment. */
export type Refusal =
  | CommonRefusal
  | Full
  | AlreadyBooked
  | SlotFull
  | SlotPast
  | SlotNotBegun
  | UnknownSlot
  | UnknownLocation
  | WrongStatus

/** A consumer's own view of its booking. */
export type View =
  | { readonly status: "NOT_BOOKED" }
  | (BookingName &
      Slot & {
        readonly status: Status
        readonly createdAt: Millis
        /** When it last changed. */
        readonly updatedAt: Millis
        /** The number of its changes. */
        readonly revision: number
      })

/** The capacity that the bookings of one slot take. */
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
  /** False if all slots are booked or over. */
  readonly isOpenStill: boolean
  readonly taken: TakenSlots
}
