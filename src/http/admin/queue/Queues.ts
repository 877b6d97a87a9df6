/** Queues on the Admin API: what is special about them. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Configuration, configurationProblems } from "../../../domain/queue/Queue.ts"
import { AdminApi } from "../Api.ts"
import type { KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { queueSchemas } from "./QueueApi.ts"

/** Completions 4, "queue". */
export const queues: KindOfMechanism<"queue"> = {
  kind: "queue",
  Configuration,
  settings: queueSchemas.settings,
  defaults: () => ({
    supportsGuest: true,
    recycleExpiredAdmissions: false,
    loyaltyBiasEnabled: false,
    loyaltyHeadStartSeconds: 60
  }),
  problems: configurationProblems
}

export const QueueHandlers = HttpApiBuilder.group(AdminApi, "queues", (handlers) =>
  Effect.map(makeHandlers<"queue", typeof queueSchemas.Record.Type>(queues), (shared) => handlers.handleAll(shared))
)
