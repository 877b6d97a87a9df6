/** The handler of security events. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SecurityEvents } from "../../../store/organization/SecurityEvents.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"

export const SecurityEventHandlers = HttpApiBuilder.group(AdminApi, "securityEvents", (handlers) =>
  Effect.gen(function* () {
    const events = yield* SecurityEvents
    return handlers.handle("listSecurityEvents", ({ query }) =>
      orServiceUnavailable(
        Effect.gen(function* () {
          const { tenant } = yield* CurrentTenant
          return yield* events.list(tenant, query).pipe(orInvalidPage(query))
        })
      )
    )
  })
)
