/** The handlers of waitlists on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

export const WaitlistHandlers = HttpApiBuilder.group(AdminApi, "waitlists", (handlers) =>
  Effect.map(makeHandlers("waitlist"), (shared) => handlers.handleAll(shared))
)
