/** Declares timed releases for the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Configuration, configurationProblems } from "../../../domain/timedRelease/TimedRelease.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"
import { timedReleaseSchemas } from "../../../api/admin/TimedReleaseApi.ts"

/** The timed release on the Admin API: its names, schemas and defaults. */
export const timedReleases: KindOfMechanism<"timed_release"> = {
  kind: "timed_release",
  Configuration,
  settings: timedReleaseSchemas.settings,
  defaults: () => ({ supportsGuest: true }),
  problems: configurationProblems,
  variants: ({ variantIds = [] }) => variantIds
}

export const TimedReleaseHandlers = HttpApiBuilder.group(AdminApi, "timed-releases", (handlers) =>
  Effect.map(makeHandlers<"timed_release", typeof timedReleaseSchemas.Record.Type>(timedReleases), (shared) =>
    handlers.handleAll(shared)
  )
)
