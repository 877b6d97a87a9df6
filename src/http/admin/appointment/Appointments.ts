/** The handlers of appointments on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Engine } from "../../../engine/Engine.ts"
import { bookingState } from "../../../api/Bookings.ts"
import * as ShopActions from "../../credentials/ShopActions.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

export const AppointmentHandlers = HttpApiBuilder.group(AdminApi, "appointments", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const { onPlace } = yield* ShopActions.make("appointment")
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
