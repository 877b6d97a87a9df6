/**
 * Experiences on the Admin API: what each operation does.
 */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { isWindowEmpty, Settings } from "../../domain/Experience.ts"
import { archiveWithMechanisms } from "../../engine/Archiving.ts"
import { Engine } from "../../engine/Engine.ts"
import type { Surroundings } from "../../domain/Locale.ts"
import { Experiences } from "../../store/Experiences.ts"
import { CurrentTenant } from "../Credentials.ts"
import type { ValidationError } from "../Errors.ts"
import { orNotFound, orServiceUnavailable } from "../Refusals.ts"
import { orBusy, problemsFound } from "./Answers.ts"
import { AdminApi } from "./Api.ts"
import type { ChangeExperience, CreateExperience } from "./ExperienceApi.ts"
import { orInvalidPage } from "./Lists.ts"
import { withChanges } from "./Payloads.ts"

export const ExperienceHandlers = HttpApiBuilder.group(
  AdminApi,
  "experiences",
  Effect.fnUntraced(function* (handlers) {
    const experiences = yield* Experiences
    const engine = yield* Engine

    return handlers.handleAll({
      createExperience: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        const defaults = yield* experiences.defaults(tenant)
        const settings = yield* Effect.fromResult(revised(defaults, payload, defaults))
        return yield* experiences.create(tenant, by, settings)
      }, orServiceUnavailable),

      listExperiences: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* experiences.list(tenant, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getExperience: Effect.fnUntraced(
        function* ({ params }) {
          const { tenant } = yield* CurrentTenant
          return yield* experiences.find(tenant, params.id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeExperience: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const defaults = yield* experiences.defaults(tenant)
          return yield* experiences.change(tenant, params.id, by, (settings) => revised(settings, payload, defaults))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveExperience: Effect.fnUntraced(
        function* ({ params }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* archiveWithMechanisms(tenant, by, experiences.archive(tenant, params.id, by))
        },
        orNotFound,
        orBusy,
        Effect.provideService(Engine, engine)
      )
    })
  })
)

/** The settings with the changes made, if they make sense. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateExperience.Type | typeof ChangeExperience.Type,
  defaults: Surroundings
): Result.Result<Settings, ValidationError> => {
  // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
  const next = withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings
  return isWindowEmpty(next)
    ? Result.fail(problemsFound([{ field: "closeAt", message: "closeAt must be after openAt" }], next))
    : Result.succeed(next)
}
