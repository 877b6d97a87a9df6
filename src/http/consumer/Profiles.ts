/** The handlers of consumers. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../domain/Ids.ts"
import * as Store from "../../store/Profiles.ts"
import { CurrentConsumer, CurrentTenant } from "../Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../Refusals.ts"
import { ConsumerApi } from "./Api.ts"

/** The handlers of the group `consumers`; needs what is stored of consumers. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "consumers",
  Effect.fnUntraced(function* (handlers) {
    const profiles = yield* Store.Profiles

    const profile = Effect.fnUntraced(
      function* (tenant: Tenant, consumerId: string) {
        const { places, ...consumer } = yield* profiles.find(tenant, consumerId)
        return { ...consumer, places: places.map(({ fields, ...place }) => ({ ...fields, ...place })) }
      },
      orNotFound,
      orServiceUnavailable
    )

    return handlers.handleAll({
      me: () => Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => profile(tenant, consumerId)),
      get: ({ params }) => Effect.flatMap(CurrentTenant, ({ tenant }) => profile(tenant, params.consumerId))
    })
  })
)
