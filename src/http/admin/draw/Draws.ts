/** Declares draws for the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Configuration, configurationProblems } from "../../../domain/draw/Draw.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { drawSchemas, publishedFields } from "../../../api/admin/DrawApi.ts"
import type { KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

/** The draw on the Admin API: its names, schemas and defaults. */
export const draws: KindOfMechanism<"draw"> = {
  kind: "draw",
  Configuration,
  settings: drawSchemas.settings,
  published: Object.keys(publishedFields),
  defaults: ({ drawAt }) => ({
    supportsGuest: true,
    continueSelectingUntilCompleted: false,
    loyaltyBiasEnabled: false,
    loyaltyWeight: 1,
    riskWeight: 0,
    ...(drawAt !== undefined && { closeAt: drawAt })
  }),
  problems: configurationProblems,
  secrets: ({ drawnAt }) => (drawnAt === undefined ? ["seed", "salt"] : ["salt"])
}

export const DrawHandlers = HttpApiBuilder.group(AdminApi, "draws", (handlers) =>
  Effect.map(makeHandlers<"draw", typeof drawSchemas.Record.Type>(draws), (shared) => handlers.handleAll(shared))
)
