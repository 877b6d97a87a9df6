/** Bookings of appointments as both APIs answer them (completions 3, "Appointment"). */
import { Schema } from "effect"
import { slotId, statuses, type View } from "../domain/Appointment.ts"
import { Id } from "../domain/Ids.ts"
import { SentTimestamp } from "../domain/Time.ts"

/** How a consumer stands in an appointment: its latest booking, if it ever made one. */
export const BookingState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_BOOKED") }),
  Schema.Struct({
    status: Schema.Literals(statuses),
    bookingId: Id,
    appointmentId: Id,
    consumerId: Id,
    slotId: Id,
    startTime: SentTimestamp,
    endTime: SentTimestamp,
    confirmationCode: Schema.String,
    createdAt: SentTimestamp
  })
]).annotate({ identifier: "BookingState" })
export type BookingState = typeof BookingState.Type

/** The consumer's view of its booking, as it is sent. */
export const bookingState = (appointmentId: string, consumerId: string, view: View): BookingState =>
  view.status === "NOT_BOOKED"
    ? view
    : { ...view, appointmentId, consumerId, slotId: slotId(appointmentId, view.startTime) }
