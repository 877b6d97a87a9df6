/**
 * The experience pages. A slug is unique among the unarchived pages of an experience. The database enforces it, so only
 * one of two concurrent requests gets a slug.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import {
  type ExperiencePage,
  type PageStatus,
  type Settings,
  experiencePageSorts,
  listedDocumentBytesMax
} from "../../domain/experience/ExperiencePage.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each, parent } from "../records/Declaration.ts"
import { filtersOf, listed } from "../records/Lists.ts"
import { type Filter, listShape, makePlan, page, type PageQuery, type RowKey } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Changeable, make, type Readable } from "../records/Records.ts"
import type { ParentArchived } from "../records/Restoring.ts"
import { identityAndStamps, type RecordRow, stampOf } from "../records/Rows.ts"
import * as Search from "../records/Search.ts"
import { holdParent } from "../records/Statements.ts"
import { orTaken } from "../records/Taken.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

/** Another page of the experience has this slug. 409 */
export class SlugTaken extends Schema.TaggedError<SlugTaken>()("SlugTaken", { slug: Schema.String }) {}

export interface PageFilter {
  readonly experienceId?: string | undefined
  readonly status?: PageStatus | undefined
}

export const shape = listShape("experience pages", "p", experiencePageSorts, {
  createdAt: "timestamptz",
  title: "text",
  updatedAt: "timestamptz"
})

type Sort = keyof typeof shape.sorts

interface Row extends RecordRow {
  readonly experience_id: string
  readonly slug: string
  readonly title: string
  readonly status: PageStatus
  readonly creative_document: Settings["creativeDocument"]
  readonly record: Pick<Settings, "creativeDesignId" | "creativeTemplateKey" | "metadata">
  readonly published_at: Date | null
  readonly last_published_at: Date | null
}

const columnsOf = (sql: PgClient.PgClient, { slug, title, creativeDocument, ...record }: Settings) => ({
  slug,
  title,
  creative_document: sql.json(creativeDocument),
  record: sql.json(record)
})

/** Returns the settings of a row. They were decoded when they were sent, and all of them are plain JSON. */
const settingsOf = ({ slug, title, creative_document: creativeDocument, record }: Row): Settings => ({
  slug,
  title,
  creativeDocument,
  ...record
})

const toPage = (row: Row): ExperiencePage => ({
  ...identityAndStamps(row),
  experienceId: row.experience_id,
  slug: row.slug,
  title: row.title,
  creativeDocument: row.creative_document,
  status: row.status,
  creativeDesignId: row.record.creativeDesignId ?? null,
  creativeTemplateKey: row.record.creativeTemplateKey ?? null,
  metadata: row.record.metadata ?? null,
  publishedAt: row.published_at?.getTime() ?? null,
  lastPublishedAt: row.last_published_at?.getTime() ?? null
})

const experience = parent({ table: "experiences", record: "Experience", column: "experience_id", lock: "share" })

const declaration: Declaration<Row, ExperiencePage, Sort, never, ParentArchived | SlugTaken> = {
  service: "ExperiencePages",
  record: "Experience page",
  table: "experience_pages",
  alias: "p",
  recordsOf: each(toPage),
  list: {
    shape,
    searched: "p.title || ' ' || p.slug",
    filters: { experienceId: "p.experience_id", status: "p.status" }
  },
  parent: experience,
  whenTaken: ({ slug }) => new SlugTaken({ slug })
}

/** The experience pages. The list returns fewer pages than requested where their documents are large. */
export class ExperiencePages extends Context.Service<
  ExperiencePages,
  Readable<ExperiencePage, Sort, PageFilter> &
    Changeable<ExperiencePage, Settings, SlugTaken> & {
      /** Creates a page of the experience. A PUBLISHED page gets the current time as its time of publication. */
      create(
        tenant: Tenant,
        by: string,
        experienceId: string,
        settings: Settings,
        status: PageStatus
      ): Effect.Effect<ExperiencePage, RecordNotFound | SlugTaken | Unavailable>
      /** Publishes the page, for the first time or again. */
      publish(tenant: Tenant, id: string, by: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
      /** Makes the page a draft, which consumers do not see. A draft does not change. */
      unpublish(tenant: Tenant, id: string, by: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
      archive(tenant: Tenant, id: string, by: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
      /** Restores the page. Its experience must not be archived, and no other page of it can have the slug. */
      restore(
        tenant: Tenant,
        id: string,
        by: string
      ): Effect.Effect<ExperiencePage, ParentArchived | SlugTaken | RecordNotFound | Unavailable>
    }
>()("usher/store/experience/ExperiencePages") {
  static readonly layer = Layer.effect(ExperiencePages)(
    Effect.gen(function* () {
      const { sql, statements, find, restore } = yield* make(declaration)
      const { insert, lock, update, updateOf } = statements

      const create = Effect.fn("ExperiencePages.create")(
        function* (tenant: Tenant, by: string, experienceId: string, settings: Settings, status: PageStatus) {
          yield* holdParent(sql, tenant, experience, experienceId)
          const stamp = yield* stampOf(by)
          const publishedAt = status === "PUBLISHED" ? stamp.now : null
          const row = yield* insert(tenant, stamp, () => ({
            ...columnsOf(sql, settings),
            experience_id: experienceId,
            status,
            published_at: publishedAt,
            last_published_at: publishedAt
          })).pipe(orSlugTaken(settings))
          return toPage(row)
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("ExperiencePages.change")(
        function* (tenant: Tenant, id: string, by: string, revise: (settings: Settings) => Settings) {
          const settings = revise(settingsOf(yield* lock(tenant, id)))
          const written = update(id, yield* stampOf(by), columnsOf(sql, settings))
          return toPage(yield* orSlugTaken(settings)(written))
        },
        sql.withTransaction,
        orUnavailable
      )

      const archive = Effect.fn("ExperiencePages.archive")(function* (tenant: Tenant, id: string, by: string) {
        return toPage(yield* updateOf(tenant, id, yield* stampOf(by), { archived: true }))
      }, orUnavailable)

      return {
        create,
        find,
        list: yield* makePageList,
        change,
        ...makePublishing(sql, find),
        archive,
        restore
      }
    })
  )
}

const orSlugTaken = ({ slug }: Settings) => orTaken(() => new SlugTaken({ slug }))

/** The list ends a page at the document that reaches `listedDocumentBytesMax`. */
const makePageList = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const plan = yield* makePlan
  return Effect.fn("ExperiencePages.list")(function* (tenant: Tenant, query: PageQuery<Sort>, filter: Filter = {}) {
    const planned = yield* plan(shape, query, { tenant, filter: filtersOf(declaration, filter) })
    const found = Search.queryOf(sql, planned, {
      ...listed(sql, declaration, tenant, query, filter),
      fields: sql`p.id, p.document_bytes`
    })
    const rows = yield* sql<Row & RowKey>`
      with listed as materialized (
        select l.*, row_number() over () as nr from (${found}) l
      ), weighed as (
        select listed.*, sum(document_bytes) over (order by nr) - document_bytes as bytes_before from listed
      )
      select p.*, w."sortKey", w."sortId" from weighed w join experience_pages p on p.id = w.id
      where w.bytes_before < ${listedDocumentBytesMax}::int order by w.nr`
    return page(planned, rows, toPage)
  }, orUnavailable)
})

/** Publishing needs no lock, because each operation is one statement. */
const makePublishing = (sql: PgClient.PgClient, find: ExperiencePages["Service"]["find"]) => {
  const publish = Effect.fn("ExperiencePages.publish")(function* (tenant: Tenant, id: string, by: string) {
    const { now } = yield* stampOf(by)
    const [row] = yield* sql<Row>`
      update experience_pages p
      set status = 'PUBLISHED', published_at = coalesce(p.published_at, ${now}), last_published_at = ${now},
        updated_at = ${now}, updated_by = ${by}
      where p.id = ${id} and ${unarchivedOf(sql, tenant, "p")} returning *`
    return row === undefined ? yield* new RecordNotFound({ record: "Experience page" }) : toPage(row)
  }, orUnavailable)

  const unpublish = Effect.fn("ExperiencePages.unpublish")(function* (tenant: Tenant, id: string, by: string) {
    const { now } = yield* stampOf(by)
    yield* sql`
      update experience_pages p set status = 'DRAFT', updated_at = ${now}, updated_by = ${by}
      where p.id = ${id} and p.status = 'PUBLISHED' and ${unarchivedOf(sql, tenant, "p")}`
    return yield* find(tenant, id)
  }, orUnavailable)

  return { publish, unpublish }
}
