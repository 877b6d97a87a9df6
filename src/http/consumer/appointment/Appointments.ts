/** The handlers of appointments: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { slotStart, type View } from "../../../domain/appointment/Appointment.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine } from "../../../engine/Engine.ts"
import { BookingState, bookingState } from "../../fields/Bookings.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { ConsumerApi } from "../Api.ts"
import { PublicAppointment } from "./AppointmentApi.ts"
import * as LiveUpdates from "../mechanism/LiveUpdates.ts"
import * as Protection from "../experience/Protection.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"
import { slotsOn } from "./Slots.ts"

type AppointmentRef = MechanismRef<"appointment">

/** The handlers of the group `appointments`; needs the engine. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "appointments",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const ifInvited = yield* Protection.make

    const sent = ({ id }: AppointmentRef, consumerId: string, view: View) =>
      Effect.succeed(bookingState(id, consumerId, view))

    const events = (yield* LiveUpdates.make)("appointment", BookingState, sent)

    /** Runs a consumer's command; answers its booking. */
    const change = (appointment: AppointmentRef, command: ConsumerCommand<"appointment">) =>
      Effect.flatMap(engine.send(appointment, command), (view) => sent(appointment, command.consumerId, view))

    return handlers.handleAll({
      get: ({ params }) =>
        orAppointmentAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            Effect.map(engine.inspect(appointmentOf(tenant, params.appointmentId)), (inspection) =>
              publicView(PublicAppointment, inspection)
            )
          )
        ),
      slots: Effect.fnUntraced(function* ({ params: { appointmentId }, query }) {
        const { tenant } = yield* CurrentTenant
        const facts = yield* orAppointmentAnswer(engine.facts(appointmentOf(tenant, appointmentId)))
        return yield* Effect.fromResult(slotsOn(appointmentId, query, facts))
      }),
      book: ({ params, payload: { slotId, locationId } }) =>
        orAppointmentAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const appointment = appointmentOf(tenant, params.appointmentId)
            const booking = change(appointment, {
              _tag: "Book",
              consumerId,
              startTime: slotStart(appointment.id, slotId),
              locationId: locationId ?? undefined
            })
            return ifInvited(appointment, consumerId, booking)
          })
        ),
      me: ({ params }) =>
        orAppointmentAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const appointment = appointmentOf(tenant, params.appointmentId)
            return Effect.flatMap(engine.view(appointment, consumerId), (view) => sent(appointment, consumerId, view))
          })
        ),
      cancel: ({ params }) =>
        orAppointmentAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) =>
            change(appointmentOf(tenant, params.appointmentId), { _tag: "Cancel", consumerId, by })
          )
        ),
      reschedule: ({ params, payload }) =>
        orAppointmentAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) => {
            const appointment = appointmentOf(tenant, params.appointmentId)
            const startTime = slotStart(appointment.id, payload.newSlotId)
            return change(appointment, { _tag: "Reschedule", consumerId, startTime, by })
          })
        ),
      events: ({ params, headers }) => events(params.appointmentId, headers)
    })
  })
)

const orAppointmentAnswer = orAnswer("appointment")

const appointmentOf = (tenant: Tenant, id: string): AppointmentRef => ({ kind: "appointment", id, tenant })
