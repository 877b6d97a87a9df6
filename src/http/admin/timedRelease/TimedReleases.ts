/** The handlers of timed releases on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

export const TimedReleaseHandlers = HttpApiBuilder.group(AdminApi, "timed-releases", (handlers) =>
  Effect.map(makeHandlers("timed_release"), (shared) => handlers.handleAll(shared))
)
