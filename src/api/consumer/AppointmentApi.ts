/** Appointments, as the Consumer API declares them. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Hours, declaration } from "../../domain/appointment/Appointment.ts"
import { Id } from "../../domain/values/Ids.ts"
import { TimeZone } from "../../domain/values/Locale.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { CalendarDay } from "../../domain/values/WallClock.ts"
import { BookingState, SlotId } from "../Bookings.ts"
import { ConsumerAction, PublicRead } from "../Credentials.ts"
import { StatusRead } from "../Annotations.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { publicFields } from "./PublicMechanism.ts"
import { endpointsOf } from "./MechanismApi.ts"

/** The public view of an appointment. */
export const PublicAppointment = Schema.Struct(
  publicFields({
    slotsFrom: SentTimestamp,
    slotsUntil: SentTimestamp,
    hours: Hours,
    slotDurationMinutes: Schema.Int,
    bufferMinutes: Schema.Int,
    maxCapacityPerSlot: Schema.Int,
    supportsGuest: Schema.Boolean,
    locationId: Schema.NullOr(Id)
  })
).annotate({ identifier: "Appointment" })

/** The slots that begin on the given days, without those that have begun already. */
export const Slots = Schema.Struct({
  timeZone: Schema.String.annotate({ description: "The time zone of the days `startDate` and `endDate`." }),
  startDate: CalendarDay,
  endDate: CalendarDay,
  data: Schema.Array(
    Schema.Struct({
      id: SlotId,
      startTime: SentTimestamp,
      endTime: SentTimestamp,
      capacity: Schema.Int,
      /** Places that can still be booked. It is 0 when the appointment has closed. */
      available: Schema.Int,
      locationId: Schema.NullOr(Id)
    })
  )
}).annotate({ identifier: "Slots" })

const one = "/appointments/:appointmentId"
const params = { appointmentId: Id }

/** The parts that the endpoints of a booking share. */
const booking = { params, success: BookingState, error: mechanismErrors.entry }

/** The body of a booking. */
const wish = Schema.Struct({ slotId: SlotId, locationId: Schema.optionalKey(Schema.NullOr(Id)) })

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({ title: "Appointments", description: "Slots that consumers book." })
)

const appointment = endpointsOf({
  path: declaration.path,
  param: declaration.parameter,
  State: BookingState,
  Public: PublicAppointment
})

export class AppointmentsGroup extends group.add(
  appointment.get.annotate(OpenApi.Summary, "Get an appointment"),
  HttpApiEndpoint.get("slots", `${one}/slots`, {
    params,
    query: {
      startDate: Schema.optionalKey(CalendarDay.annotate({ description: "The first day; default today." })),
      endDate: Schema.optionalKey(
        CalendarDay.annotate({ description: "The last day; default a week with the first, at most 62 days." })
      ),
      timezone: Schema.optionalKey(
        TimeZone.annotate({ description: "The time zone of the days; default the appointment's." })
      )
    },
    success: Slots,
    error: mechanismErrors.read
  })
    .middleware(PublicRead)
    .annotate(OpenApi.Summary, "List slots"),
  HttpApiEndpoint.post("book", `${one}/book`, { ...booking, payload: wish })
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Book a slot"),
  HttpApiEndpoint.get("me", `${one}/me`, { ...booking, error: mechanismErrors.read })
    .annotate(StatusRead, true)
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "The consumer's booking"),
  HttpApiEndpoint.post("cancel", `${one}/cancel`, { ...booking, error: mechanismErrors.change })
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Cancel a booking"),
  HttpApiEndpoint.post("reschedule", `${one}/reschedule`, {
    ...booking,
    payload: Schema.Struct({ newSlotId: SlotId })
  })
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Exchange a booked slot"),
  appointment.events.annotate(OpenApi.Summary, "Follow the consumer's booking")
) {}
