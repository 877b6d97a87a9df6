/** Declares queues for the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Configuration, configurationProblems } from "../../../domain/queue/Queue.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import * as Steering from "../steering/Steering.ts"
import { pauseFields, queueSchemas } from "../../../api/admin/QueueApi.ts"

/** The queue on the Admin API: its names, schemas and defaults. */
export const queues: KindOfMechanism<"queue"> = {
  kind: "queue",
  Configuration,
  settings: queueSchemas.settings,
  published: Object.keys(pauseFields),
  defaults: () => ({
    supportsGuest: true,
    recycleExpiredAdmissions: false,
    loyaltyBiasEnabled: false,
    loyaltyHeadStartSeconds: 60,
    riskWeight: 0
  }),
  problems: configurationProblems
}

export const QueueHandlers = HttpApiBuilder.group(AdminApi, "queues", (handlers) =>
  Effect.gen(function* () {
    const shared = yield* makeHandlers<"queue", typeof queueSchemas.Record.Type>(queues)
    const { admit, pause, resume } = yield* Steering.make
    return handlers.handleAll({
      ...shared,
      admit,
      pause: (request) => Effect.andThen(pause(request), shared.get(request)),
      resume: (request) => Effect.andThen(resume(request), shared.get(request))
    })
  })
)
