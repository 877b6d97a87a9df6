/**
 * Appointments on the Admin API: the declaration (interface document 2.8; completions 3, "Appointment", and 4,
 * "appointment").
 */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Configuration } from "../../../domain/appointment/Appointment.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { BookingState } from "../../fields/Bookings.ts"
import { answersTo } from "../../errors/Refusals.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"

export const appointmentSchemas = schemasOf("Appointment", Configuration.fields, [
  "slotDurationMinutes",
  "slotsFrom",
  "slotsUntil"
])

const forConsumer = {
  params: { id: Id },
  payload: Schema.Struct({ consumerId: Id }),
  success: BookingState,
  error: answersTo.change
}

export class AppointmentApi extends mechanismGroup(
  {
    group: "appointments",
    noun: "appointment",
    aNoun: "an appointment",
    name: "Appointment",
    creating:
      "Slots are cut from the opening hours between `slotsFrom` and `slotsUntil`, which lie at most 3,660 days apart: each lasts `slotDurationMinutes`, and the next begins `bufferMinutes` (0) after its end. `hours` names for each weekday its openings in local time, `{from, to}`, where `to` may be `24:00`; the default is 09:00 to 17:00 from Monday to Friday. A slot has `maxCapacityPerSlot` (1) places. Consumers may book from `openAt` (at once) to `closeAt` (until it is ended). `timeZone` defaults to the experience's. `supportsGuest` defaults to true; false is recommended, because one person can book every slot as many guests.",
    changing:
      "Bookings keep their times. What would make slots overlap those that are booked cannot be changed, nor the location while somebody is to come, nor `openAt` once it has opened (409 `CONFIGURATION_FIXED`).",
    ending: "nobody books any more, bookings already made stay valid."
  },
  appointmentSchemas
)
  .add(
    HttpApiEndpoint.post("checkIn", "/appointments/:id/check-in", forConsumer).annotateMerge(
      OpenApi.annotations({
        identifier: "checkInAppointment",
        summary: "Check a consumer in",
        description:
          "The consumer has come: `CHECKED_IN`, from `BOOKED`, or from `NO_SHOW` while the slot lasts. At the slot's end it is `COMPLETED` by itself."
      })
    ),
    HttpApiEndpoint.post("complete", "/appointments/:id/complete", forConsumer).annotateMerge(
      OpenApi.annotations({
        identifier: "completeAppointment",
        summary: "Complete a consumer's appointment",
        description: "It took place: `COMPLETED`, from any status but `CANCELLED`, also when the slot is over."
      })
    ),
    HttpApiEndpoint.post("noShow", "/appointments/:id/no-show", forConsumer).annotateMerge(
      OpenApi.annotations({
        identifier: "missAppointment",
        summary: "Record that a consumer did not come",
        description:
          "`NO_SHOW`, from `BOOKED` or `CHECKED_IN`, once the slot has begun (409 `SLOT_NOT_BEGUN`). Who is still `BOOKED` at the slot's end is a `NO_SHOW` by itself."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Appointments",
      description:
        "Slots cut from opening hours, which consumers book. A consumer that is unknown or archived cannot be checked in, completed or missed: a 404 `Consumer not found`."
    })
  ) {}
