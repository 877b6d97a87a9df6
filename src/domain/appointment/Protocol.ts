/**
 * What an appointment is asked and what it answers (completions 3, "Appointment").
 *
 * | status     | becomes, by the consumer                      | by an admin                                  | at the slot's end |
 * |------------|-----------------------------------------------|----------------------------------------------|-------------------|
 * | BOOKED     | CANCELLED, or another slot, before the slot   | CHECKED_IN, COMPLETED; NO_SHOW once it began | NO_SHOW           |
 * | CHECKED_IN |                                               | COMPLETED; NO_SHOW once it began             | COMPLETED         |
 * | NO_SHOW    |                                               | CHECKED_IN before its end; COMPLETED         |                   |
 * | CANCELLED  | BOOKED again, while the appointment is open   |                                              |                   |
 * | COMPLETED  |                                               |                                              |                   |
 *
 * A consumer that is archived loses a booking that still stands: BOOKED or CHECKED_IN becomes CANCELLED.
 * Cancelling needs no open appointment, for it only gives back; a new slot can be had only while it is open.
 */
import type { HashMap } from "effect"
import type { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import type {
  AlreadyBooked,
  Closed,
  ConfigurationFixed,
  Full,
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

/** What a booking can be in. */
export const statuses = ["BOOKED", "CHECKED_IN", "COMPLETED", "CANCELLED", "NO_SHOW"] as const
export type Status = (typeof statuses)[number]

/** When the wanted slot begins; undefined if it is named by what is no slot's name here. */
type RequestedSlot = Millis | undefined

/**
 * What an admin or a consumer wants of the appointment; `by` is the API key that was used, as records name it. `Remove`
 * takes away the booking of a consumer that is archived.
 */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
  /** Says in which window of its experience the mechanism lives; one that it knows, or an earlier one, changes nothing. */
  | { readonly _tag: "SetExperienceWindow"; readonly window: ExperienceWindow; readonly by: string }
  | { readonly _tag: "End"; readonly by: string }
  | { readonly _tag: "Archive"; readonly by: string }
  | {
      readonly _tag: "Book"
      readonly consumerId: string
      readonly startTime: RequestedSlot
      /** Where the consumer wants to come, if it says so. */
      readonly locationId?: string | undefined
    }
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

/** Every no an appointment can say. */
export type Refusal =
  | NotOpen
  | Closed
  | Full
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

/** What the bookings of one slot take of it. */
export interface Taken {
  readonly endTime: Millis
  readonly places: number
}

/** By the slots' beginnings; persistent, so that who has it keeps it as it was. */
export type TakenSlots = HashMap.HashMap<Millis, Taken>

/** What anyone may know: which slots there are, and what is left of them. */
export interface Facts {
  readonly now: Millis
  readonly timeZone: string
  readonly locationId: string | undefined
  readonly timetable: Timetable
  /** Places of each slot. */
  readonly capacity: number
  /** False if nothing can be had any more. */
  readonly isOpenStill: boolean
  readonly taken: TakenSlots
}
