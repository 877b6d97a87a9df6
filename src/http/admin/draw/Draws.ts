/** The handlers of draws on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

export const DrawHandlers = HttpApiBuilder.group(AdminApi, "draws", (handlers) =>
  Effect.map(makeHandlers("draw"), (shared) => handlers.handleAll(shared))
)
