/** The handlers of auctions on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { reasonOf } from "../../../api/admin/SteeringApi.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { Engine } from "../../../engine/Engine.ts"
import { OrderedPlaces } from "../../../store/mechanism/OrderedPlaces.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { consumerOf } from "../mechanism/PlaceAnswers.ts"
import { forTenant } from "../records/Operations.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import * as Notes from "../steering/Notes.ts"

export const AuctionHandlers = HttpApiBuilder.group(AdminApi, "auctions", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const keepNote = yield* Notes.make
    const places = yield* OrderedPlaces
    const shared = yield* makeHandlers("auction")
    return handlers.handleAll({
      ...shared,
      listAuctionBids: ({ params, query }) =>
        Effect.andThen(
          shared.get({ params }),
          forTenant((tenant) =>
            places.bids(tenant, params.id, query, query).pipe(
              orInvalidPage(query),
              Effect.map(({ data, pageInfo }) => ({ data: data.map(consumerOf), pageInfo }))
            )
          )
        ),
      closeNow: (request) =>
        forTenant((tenant, by) => {
          const { params, payload: why } = request
          const command = { _tag: "CloseNow", by, ...reasonOf(why) } as const
          return engine
            .sendAdmin({ kind: "auction", id: params.id, tenant }, command)
            .pipe(
              orAnswer("auction"),
              Effect.andThen(keepNote(tenant, by, { ...why, distributionId: params.id, action: "change" }))
            )
        }).pipe(Effect.andThen(shared.get(request)))
    })
  })
)
