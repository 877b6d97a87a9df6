/**
 * The published pages of kind `experience-page`, which consumers see. Each is read from the database, by an index.
 */
import { Context, Effect } from "effect"
import type { PublicExperiencePage } from "../../domain/experience/ExperiencePage.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant } from "../records/Tenancy.ts"

export class ShownPages extends Context.Service<
  ShownPages,
  {
    /** Returns the experience's published page with this slug. Without a slug: the page that was published last. */
    find(
      tenant: Tenant,
      experienceId: string,
      slug: string | undefined
    ): Effect.Effect<PublicExperiencePage, RecordNotFound | Unavailable>
  }
>()("usher/store/experience/ShownPages") {
  static readonly layer = onDatabase(ShownPages, (sql) => {
    const find = Effect.fn("ShownPages.find")(function* (
      tenant: Tenant,
      experienceId: string,
      slug: string | undefined
    ) {
      const named = slug === undefined ? sql`true` : sql`p.slug = ${slug}`
      const rows = yield* sql<Row>`
        select p.id, p.experience_id, p.slug, p.title, p.creative_document, p.published_at, p.last_published_at,
          p.updated_at
        from experience_pages p join experiences e on e.id = p.experience_id and not e.archived
        where p.experience_id = ${experienceId} and ${ofTenant(sql, tenant, "p")}
          and p.status = 'PUBLISHED' and not p.archived and p.creative_document ->> 'kind' = 'experience-page'
          and ${named}
        order by p.last_published_at desc, p.id desc limit 1`
      return rows[0] === undefined ? yield* new RecordNotFound({ record: "Experience page" }) : toPublicPage(rows[0])
    }, orUnavailable)

    return { find }
  })
}

interface Row {
  readonly id: string
  readonly experience_id: string
  readonly slug: string
  readonly title: string
  readonly creative_document: PublicExperiencePage["creativeDocument"]
  readonly published_at: Date
  readonly last_published_at: Date
  readonly updated_at: Date
}

const toPublicPage = (row: Row): PublicExperiencePage => ({
  id: row.id,
  experienceId: row.experience_id,
  slug: row.slug,
  title: row.title,
  creativeDocument: row.creative_document,
  publishedAt: row.published_at.getTime(),
  lastPublishedAt: row.last_published_at.getTime(),
  updatedAt: row.updated_at.getTime()
})
