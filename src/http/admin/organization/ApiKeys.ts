/** The handlers of API keys. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OrganizationKeys } from "../../../auth/keys/OrganizationKeys.ts"
import { SecurityEvents } from "../../../store/organization/SecurityEvents.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"

export const ApiKeyHandlers = HttpApiBuilder.group(AdminApi, "apiKeys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* OrganizationKeys
    const events = yield* SecurityEvents

    return handlers.handleAll({
      listApiKeys: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* keys.list(tenant, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      rotateApiKey: Effect.fnUntraced(
        function* ({ params: { kind } }) {
          const { tenant, by } = yield* CurrentTenant
          const rotated = yield* keys.rotate(tenant, kind, by)
          yield* events.record(tenant, { type: "key_rotation", details: { kind, by: "admin_api" } })
          return rotated
        },
        // Organizations are never removed.
        Effect.catchTag("OrganizationNotFound", Effect.die),
        orServiceUnavailable
      )
    })
  })
)
