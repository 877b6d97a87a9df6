/** The handlers of experience pages on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/experience/ExperiencePage.ts"
import { ExperiencePages, type SlugTaken } from "../../../store/experience/ExperiencePages.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict } from "../../../api/Errors.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"
import { orArchived } from "../records/Refusals.ts"

export const ExperiencePageHandlers = HttpApiBuilder.group(AdminApi, "experiencePages", (handlers) =>
  Effect.map(ExperiencePages, (pages) =>
    handlers.handleAll({
      createExperiencePage: ({ payload }) =>
        forTenant((tenant, by) =>
          pages
            .create(tenant, by, payload.experienceId, revised({}, payload), payload.status ?? "DRAFT")
            .pipe(orSlugTaken)
        ),

      listExperiencePages: onList((tenant, query) => pages.list(tenant, query, query)),

      getExperiencePage: onRecord(pages.find),

      changeExperiencePage: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          pages.change(tenant, id, by, (settings) => revised(settings, payload)).pipe(orSlugTaken)
        ),

      archiveExperiencePage: onRecord(pages.archive),

      restoreExperiencePage: onRecord((tenant, id, by) => pages.restore(tenant, id, by).pipe(orArchived, orSlugTaken)),

      publishExperiencePage: onRecord(pages.publish),

      unpublishExperiencePage: onRecord(pages.unpublish)
    })
  )
)

const revised = revising<Settings>(Settings.fields)

/** Turns a slug that another page has into a 409. */
const orSlugTaken = answering({
  SlugTaken: (_: SlugTaken) =>
    new Conflict({ error: "Another page of the experience has this slug", code: "SLUG_TAKEN" })
})
