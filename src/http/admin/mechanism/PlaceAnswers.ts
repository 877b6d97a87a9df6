/** Places as the lists of the Admin API answer them. */
import { slotId } from "../../../domain/appointment/Appointment.ts"
import type { ConsumerPlace } from "../../../store/mechanism/Places.ts"

/** The fields of the status and the common fields. */
export const consumerOf = ({ fields, ...common }: ConsumerPlace) => ({ ...fields, ...common })

/** The same of a booking, with the name of its slot. */
export const bookingOf = (appointmentId: string, place: ConsumerPlace) => ({
  slotId: slotId(appointmentId, Date.parse(place.fields["startTime"] as string)),
  ...consumerOf(place)
})
