/** The handlers of appointments on the Consumer API. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { slotStart } from "../../../domain/appointment/Appointment.ts"
import { Engine } from "../../../engine/Engine.ts"
import { BookingState, bookingState } from "../../../api/Bookings.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import type { ToEntry, ToMechanism } from "../mechanism/Handling.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { PublicAppointment } from "../../../api/consumer/AppointmentApi.ts"
import * as Slots from "./Slots.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "appointments", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const slotsOf = Slots.make()
    const { reads, act, entry, refOf, orHttpAnswer } = yield* makeHandlers(
      { kind: "appointment", param: "appointmentId", Public: PublicAppointment, State: BookingState },
      ({ id }, consumerId, view) => Effect.succeed(bookingState(id, consumerId, view))
    )

    return handlers.handleAll({
      get: reads.get,
      me: reads.status,
      events: reads.events,
      slots: Effect.fnUntraced(function* (request) {
        const { tenant } = yield* CurrentTenant
        const appointment = refOf(tenant, request)
        const facts = yield* orHttpAnswer(engine.facts(appointment))
        const json = yield* Effect.fromResult(slotsOf(appointment.id, request.query, facts))
        return HttpServerResponse.uint8Array(json, { contentType: "application/json" })
      }),
      book: entry((appointment, { consumerId, isGuest, risk }, { payload: { slotId, locationId } }: ToBook) =>
        engine.send(appointment, {
          _tag: "Book",
          consumerId,
          isGuest,
          risk,
          startTime: slotStart(appointment.id, slotId),
          locationId: locationId ?? undefined
        })
      ),
      cancel: act(({ consumerId, by }) => ({ _tag: "Cancel", consumerId, by })),
      reschedule: act(({ consumerId, by }, { payload: { newSlotId } }: ToReschedule, { id }) => ({
        _tag: "Reschedule",
        consumerId,
        startTime: slotStart(id, newSlotId),
        by
      }))
    })
  })
)

interface ToBook extends ToEntry<"appointmentId"> {
  readonly payload: { readonly slotId: string; readonly locationId?: string | null }
}

interface ToReschedule extends ToMechanism<"appointmentId"> {
  readonly payload: { readonly newSlotId: string }
}
