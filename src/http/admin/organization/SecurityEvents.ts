/** The handler of security events. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SecurityEvents } from "../../../store/organization/SecurityEvents.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"

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
