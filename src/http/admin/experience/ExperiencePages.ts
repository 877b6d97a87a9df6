/**
 * Experience pages on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/experience/ExperiencePage.ts"
import { ExperiencePages, type SlugTaken } from "../../../store/experience/ExperiencePages.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { Conflict } from "../../errors/Errors.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../Api.ts"
import type { ChangeExperiencePage, CreateExperiencePage } from "./ExperiencePageApi.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"
import { orArchived } from "../records/Restoring.ts"

export const ExperiencePageHandlers = HttpApiBuilder.group(
  AdminApi,
  "experiencePages",
  Effect.fnUntraced(function* (handlers) {
    const pages = yield* ExperiencePages

    return handlers.handleAll({
      createExperiencePage: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const status = payload.status ?? "DRAFT"
          return yield* pages.create(tenant, by, payload.experienceId, revised({}, payload), status)
        },
        orSlugTaken,
        orNotFound,
        orServiceUnavailable
      ),

      listExperiencePages: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* pages.list(tenant, query, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getExperiencePage: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* pages.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeExperiencePage: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* pages.change(tenant, id, by, (settings) => revised(settings, payload))
        },
        orSlugTaken,
        orNotFound,
        orServiceUnavailable
      ),

      archiveExperiencePage: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* pages.archive(tenant, id, by)
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreExperiencePage: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* pages.restore(tenant, id, by)
        },
        orArchived,
        orSlugTaken,
        orNotFound,
        orServiceUnavailable
      ),

      publishExperiencePage: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* pages.publish(tenant, id, by)
        },
        orNotFound,
        orServiceUnavailable
      ),

      unpublishExperiencePage: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* pages.unpublish(tenant, id, by)
        },
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

/** The settings with the changes made. Every required one is in the payload of a creation, or in what is there already. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateExperiencePage.Type | typeof ChangeExperiencePage.Type
): Settings => withChanges<Settings>(settings, changes, Settings.fields, {}) as Settings

/** Turns a slug that another page has into a 409. */
function orSlugTaken<A, E, R>(
  effect: Effect.Effect<A, E | SlugTaken, R>
): Effect.Effect<A, Exclude<E, SlugTaken> | Conflict, R> {
  return Effect.catchTag(effect as Effect.Effect<A, SlugTaken, R>, "SlugTaken", () =>
    Effect.fail(new Conflict({ error: "Another page of the experience has this slug", code: "SLUG_TAKEN" }))
  ) as Effect.Effect<A, Exclude<E, SlugTaken> | Conflict, R>
}
