/** Appointments on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Configuration, declaration } from "../../domain/appointment/Appointment.ts"
import { Id } from "../../domain/values/Ids.ts"
import { BookingState } from "../Bookings.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"

export const appointmentSchemas = schemasOf(declaration, Configuration.fields, [
  "slotDurationMinutes",
  "slotsFrom",
  "slotsUntil"
])

const forConsumer = {
  params: { id: Id },
  payload: Schema.Struct({ consumerId: Id }),
  success: BookingState,
  error: mechanismErrors.change
}

export class AppointmentApi extends mechanismGroup(
  declaration,
  {
    creating:
      "Slots are cut from the opening hours between `slotsFrom` and `slotsUntil`, which lie at most 3,660 days apart. " +
      "Each slot lasts `slotDurationMinutes`; the next begins `bufferMinutes` (default 0) after its end. `hours` lists " +
      "the openings of each weekday in local time, as `{from, to}`; `to` may be `24:00`. The default is 09:00 to 17:00 " +
      "from Monday to Friday. A slot has `maxCapacityPerSlot` (default 1) places. Consumers may book from `openAt` " +
      "(default: at once) to `closeAt` (default: until the appointment is ended). `timeZone` defaults to the " +
      "experience's. `supportsGuest` defaults to true; false is recommended, because one person can book every slot as " +
      "many guests.",
    changing:
      "Bookings keep their times. A change is refused (409 `CONFIGURATION_FIXED`) if its slots would overlap booked " +
      "ones. So is a change of the location while a booked consumer is still to come, and of `openAt` after the " +
      "opening.",
    ending: "consumers can no longer book, and bookings already made stay valid."
  },
  appointmentSchemas
)
  .add(
    HttpApiEndpoint.post("checkIn", "/appointments/:id/check-in", forConsumer).annotateMerge(
      OpenApi.annotations({
        identifier: "checkInAppointment",
        summary: "Check a consumer in",
        description:
          "The consumer has arrived. A `BOOKED` booking becomes `CHECKED_IN`; so does a `NO_SHOW` while the slot lasts. At " +
          "the slot's end it becomes `COMPLETED` automatically."
      })
    ),
    HttpApiEndpoint.post("complete", "/appointments/:id/complete", forConsumer).annotateMerge(
      OpenApi.annotations({
        identifier: "completeAppointment",
        summary: "Complete a consumer's appointment",
        description:
          "The appointment took place. The booking becomes `COMPLETED` from any status but `CANCELLED`, also after the " +
          "slot's end."
      })
    ),
    HttpApiEndpoint.post("noShow", "/appointments/:id/no-show", forConsumer).annotateMerge(
      OpenApi.annotations({
        identifier: "missAppointment",
        summary: "Record that a consumer did not come",
        description:
          "A `BOOKED` or `CHECKED_IN` booking becomes `NO_SHOW`, once the slot has begun (409 `SLOT_NOT_BEGUN` before). A " +
          "booking still `BOOKED` at the slot's end becomes `NO_SHOW` automatically."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Appointments",
      description:
        "Slots cut from opening hours, which consumers book. Check-in, completion and no-show of an unknown or archived " +
        "consumer are a 404 `Consumer not found`."
    })
  ) {}
