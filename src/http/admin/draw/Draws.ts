/** The handlers of draws on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import * as Time from "../../../store/coordination/Time.ts"

export const DrawHandlers = HttpApiBuilder.group(AdminApi, "draws", (handlers) =>
  Effect.map(makeHandlers("draw"), (shared) =>
    handlers.handleAll({
      ...shared,
      drawNow: ({ params, payload: why }) =>
        Effect.flatMap(Time.now, (now) => {
          const payload: object = { ...why, closeAt: now, drawAt: now }
          return shared.change({ params, payload })
        })
    })
  )
)
