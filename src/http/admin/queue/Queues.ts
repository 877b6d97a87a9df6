/** The handlers of queues on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import * as QueueSteering from "../steering/QueueSteering.ts"

export const QueueHandlers = HttpApiBuilder.group(AdminApi, "queues", (handlers) =>
  Effect.gen(function* () {
    const shared = yield* makeHandlers("queue")
    const { admit, pause, resume } = yield* QueueSteering.make
    return handlers.handleAll({
      ...shared,
      admit,
      pause: (request) => Effect.andThen(pause(request), shared.get(request)),
      resume: (request) => Effect.andThen(resume(request), shared.get(request))
    })
  })
)
