/** Bookings of appointments as both APIs answer them. */
import { Schema, Tuple } from "effect"
import { slotId, statuses, type View } from "../domain/appointment/Appointment.ts"
import { Id } from "../domain/values/Ids.ts"
import { SentTimestamp } from "../domain/values/Time.ts"
import { asOf } from "./consumer/AsOf.ts"

/** The identifier of a slot of an appointment; see `domain/appointment/Names.ts`. */
export const SlotId = Id.pipe(
  Schema.annotateEncoded({
    description:
      "The slot's identifier: a UUIDv8, not a UUIDv7. It is derived from the slot's start (the first 48 bits, in Unix " +
      "milliseconds) and the appointment's id. It is stable: the slot of this appointment with this start always has " +
      "it, whatever the settings."
  })
)

/** A consumer's latest booking in an appointment, if it has one. */
export const BookingState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_BOOKED") }),
  Schema.Struct({
    status: Schema.Literals(statuses),
    bookingId: Id,
    appointmentId: Id,
    consumerId: Id,
    slotId: SlotId,
    startTime: SentTimestamp,
    endTime: SentTimestamp,
    confirmationCode: Schema.String,
    createdAt: SentTimestamp,
    // Absent in answers of a node of an earlier release.
    updatedAt: Schema.optionalKey(SentTimestamp.annotate({ description: "When the booking last changed." })),
    revision: Schema.optionalKey(
      Schema.Int.annotate({
        description:
          "The number of changes since it was booked, such as to another slot. In a calendar file, `bookingId` is the " +
          "`UID`, this the `SEQUENCE` and `updatedAt` the `DTSTAMP`."
      })
    )
  })
])
  .mapMembers(Tuple.map(Schema.fieldsAssign({ asOf })))
  .annotate({ identifier: "BookingState" })
export type BookingState = typeof BookingState.Type

/** The consumer's view of its booking, as it is sent. */
export const bookingState = (appointmentId: string, consumerId: string, view: View): BookingState =>
  view.status === "NOT_BOOKED"
    ? view
    : { ...view, appointmentId, consumerId, slotId: slotId(appointmentId, view.startTime) }
