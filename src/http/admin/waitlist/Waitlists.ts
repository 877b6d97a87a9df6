/** Declares waitlists for the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Configuration, configurationProblems } from "../../../domain/waitlist/Waitlist.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { waitlistSchemas } from "../../../api/admin/WaitlistApi.ts"

/** The waitlist on the Admin API: its names, schemas and defaults. */
export const waitlists: KindOfMechanism<"waitlist"> = {
  kind: "waitlist",
  Configuration,
  settings: waitlistSchemas.settings,
  defaults: () => ({ supportsGuest: true }),
  problems: configurationProblems
}

export const WaitlistHandlers = HttpApiBuilder.group(AdminApi, "waitlists", (handlers) =>
  Effect.map(makeHandlers<"waitlist", typeof waitlistSchemas.Record.Type>(waitlists), (shared) =>
    handlers.handleAll(shared)
  )
)
