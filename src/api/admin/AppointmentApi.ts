/** Appointments on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Configuration, declaration, statuses } from "../../domain/appointment/Appointment.ts"
import { bookingSorts } from "../../domain/mechanism/PlaceFields.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { CalendarDay } from "../../domain/values/WallClock.ts"
import { BookingState, SlotId } from "../Bookings.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"
import { DistributionConsumer } from "./PlaceSchemas.ts"
import { listBelow } from "./RecordApi.ts"

export const appointmentSchemas = schemasOf(declaration, Configuration.fields, [
  "slotDurationMinutes",
  "slotsFrom",
  "slotsUntil"
])

/** What only staff may know of a running appointment. */
export const appointmentFacts = {
  today: Schema.Struct({
    booked: Schema.Int.annotate({ description: "Bookings of the day that were not cancelled." }),
    free: Schema.Int.annotate({ description: "Places left in the slots that are still to come." })
  }).annotate({ description: "The day in the mechanism's time zone." })
}

const AppointmentSlots = Schema.Struct({
  timeZone: Schema.String,
  day: CalendarDay,
  data: Schema.Array(
    Schema.Struct({
      id: SlotId,
      startTime: SentTimestamp,
      endTime: SentTimestamp,
      available: Schema.Int.annotate({ description: "Places that are left." })
    })
  )
}).annotate({ identifier: "AppointmentSlots" })

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
    listBelow("listAppointmentBookings", "/appointments/:id/bookings", {
      sorts: bookingSorts,
      only: {
        day: Schema.optionalKey(
          CalendarDay.annotate({
            description: "Only bookings whose slot begins on this day in the appointment's time zone."
          })
        ),
        status: Schema.optionalKey(Schema.Literals(statuses).annotate({ description: "Only bookings in this status." }))
      },
      item: DistributionConsumer,
      page: "BookingPage",
      summary: "List an appointment's bookings",
      description: "Lists each consumer's latest booking as last recorded, in the order of the slots."
    }),
    HttpApiEndpoint.get("slots", "/appointments/:id/slots", {
      params: { id: Id },
      query: {
        day: Schema.optionalKey(CalendarDay.annotate({ description: "In the appointment's time zone; default today." }))
      },
      success: AppointmentSlots,
      error: mechanismErrors.read
    }).annotateMerge(
      OpenApi.annotations({
        identifier: "listAppointmentSlots",
        summary: "List an appointment's slots on a day",
        description: "Slots that have begun are left out. After the closing none can be booked."
      })
    ),
    HttpApiEndpoint.post("reschedule", "/appointments/:id/reschedule", {
      ...forConsumer,
      payload: Schema.Struct({ consumerId: Id, newSlotId: SlotId }),
      error: mechanismErrors.entry
    }).annotateMerge(
      OpenApi.annotations({
        identifier: "rescheduleAppointment",
        summary: "Move a consumer's booking to another slot",
        description:
          "As the consumer itself can, until its slot begins: the old slot is given up only if the new one is had. The " +
          "author is recorded. A slot without a place is a 409 `SLOT_FULL`."
      })
    ),
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
