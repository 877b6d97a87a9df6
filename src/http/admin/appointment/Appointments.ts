/** The handlers of appointments on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Engine } from "../../../engine/Engine.ts"
import { offeredSlots, slotId, slotStart } from "../../../domain/appointment/Appointment.ts"
import { bookingState } from "../../../api/Bookings.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as ShopActions from "../../credentials/ShopActions.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { dayOf, daySpan, readingAt, wallClock } from "../../../domain/values/WallClock.ts"
import { OrderedPlaces } from "../../../store/mechanism/OrderedPlaces.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { bookingOf } from "../mechanism/PlaceAnswers.ts"
import { forTenant } from "../records/Operations.ts"
import { orInvalidPage } from "../records/Refusals.ts"

export const AppointmentHandlers = HttpApiBuilder.group(AdminApi, "appointments", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const { onPlace } = yield* ShopActions.make("appointment")
    const places = yield* OrderedPlaces
    const shared = yield* makeHandlers("appointment")

    /** A handler that settles a consumer's booking. */
    const settle =
      (_tag: "CheckIn" | "Complete" | "Miss") =>
      ({ params: { id }, payload: { consumerId } }: OfConsumer) =>
        onPlace({ mechanismId: id, consumerId }, (appointment, by) =>
          Effect.map(engine.send(appointment, { _tag, consumerId, by }), (view) => bookingState(id, consumerId, view))
        )

    return handlers.handleAll({
      ...shared,
      listAppointmentBookings: ({ params, query }) =>
        Effect.flatMap(shared.get({ params }), ({ timeZone }) =>
          forTenant((tenant) =>
            places
              .bookings(tenant, params.id, query, {
                status: query.status,
                begins: query.day === undefined ? undefined : daySpan(query.day, timeZone)
              })
              .pipe(
                orInvalidPage(query),
                Effect.map(({ data, pageInfo }) => ({
                  data: data.map((place) => bookingOf(params.id, place)),
                  pageInfo
                }))
              )
          )
        ),
      slots: ({ params: { id }, query }) =>
        Effect.flatMap(CurrentTenant, ({ tenant }) =>
          orAnswer("appointment")(engine.facts({ kind: "appointment", id, tenant }))
        ).pipe(
          Effect.map((facts) => {
            const { timeZone, now } = facts
            const day = query.day ?? dayOf(readingAt(wallClock(timeZone, now, now), now))
            const slots = Array.from(offeredSlots(facts, daySpan(day, timeZone)), (slot) => ({
              id: slotId(id, slot.startTime),
              ...slot
            }))
            return { timeZone, day, data: slots }
          })
        ),
      reschedule: ({ params: { id }, payload: { consumerId, newSlotId } }) =>
        onPlace({ mechanismId: id, consumerId }, (appointment, by) =>
          Effect.map(
            engine.send(appointment, { _tag: "Reschedule", consumerId, startTime: slotStart(id, newSlotId), by }),
            (view) => bookingState(id, consumerId, view)
          )
        ),
      checkIn: settle("CheckIn"),
      complete: settle("Complete"),
      noShow: settle("Miss")
    })
  })
)

interface OfConsumer {
  readonly params: { readonly id: string }
  readonly payload: { readonly consumerId: string }
}
