/**
 * The experience pages. A slug is unique among the pages of an experience that are not archived; the database says so, so
 * that of two who want it at once one gets it.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { type ExperiencePage, type PageStatus, Settings } from "../../domain/experience/ExperiencePage.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import {
  archivedAsAsked,
  type ListShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused,
  type RowKey
} from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ParentArchived } from "../records/Restoring.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/**
 * Bytes of creative documents that one page of the list reads: it ends with the document that reaches them, and its cursor
 * goes on from there. A page always has one item at least, so a walk never ends early.
 */
export const documentBytesMax = 4_194_304

/** Another page of the experience has this slug. 409 */
export class SlugTaken extends Schema.TaggedError<SlugTaken>()("SlugTaken", { slug: Schema.String }) {}

/** What a list of pages can be narrowed to. */
export interface PageFilter {
  readonly experienceId?: string | undefined
  readonly status?: PageStatus | undefined
}

/** The list of experience pages (completions 4). */
export const shape = {
  name: "experience pages",
  sorts: {
    createdAt: { expression: "p.created_at", type: "timestamptz" },
    title: { expression: "p.title", type: "text" },
    updatedAt: { expression: "p.updated_at", type: "timestamptz" }
  },
  id: { expression: "p.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "title" | "updatedAt">

export class ExperiencePages extends Context.Service<
  ExperiencePages,
  {
    /** Creates a page of the experience; one that is PUBLISHED counts as published at this moment. */
    create(
      tenant: Tenant,
      by: string,
      experienceId: string,
      settings: Settings,
      status: PageStatus
    ): Effect.Effect<ExperiencePage, RecordNotFound | SlugTaken | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
    /** Fewer than are asked for, where their documents are large. */
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: PageFilter
    ): Effect.Effect<Page<ExperiencePage>, PageRefused | Unavailable>
    /** Replaces the settings by what `revise` makes of them; nobody else changes them meanwhile. */
    change(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Settings
    ): Effect.Effect<ExperiencePage, RecordNotFound | SlugTaken | Unavailable>
    /** Publishes the page, for the first time or again. */
    publish(tenant: Tenant, id: string, by: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
    /** Makes the page a draft, which consumers do not see. A draft stays as it is. */
    unpublish(tenant: Tenant, id: string, by: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<ExperiencePage, RecordNotFound | Unavailable>
    /** Takes the page out of the archive; its experience must not be archived, and no other page of it have the slug. */
    restore(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<ExperiencePage, ParentArchived | SlugTaken | RecordNotFound | Unavailable>
  }
>()("usher/store/experience/ExperiencePages") {
  static readonly layer = Layer.effect(
    ExperiencePages,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom

      const ofWholeTenant = (tenant: Tenant) =>
        sql`p.organization_id = ${tenant.organizationId} and p.mode = ${tenant.mode}`

      const ofTenant = (tenant: Tenant) => sql`${ofWholeTenant(tenant)} and not p.archived`

      const one = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? notFound : Effect.succeed(toPage(rows[0])))

      const create = Effect.fn("ExperiencePages.create")(
        function* (tenant: Tenant, by: string, experienceId: string, settings: Settings, status: PageStatus) {
          const parents = yield* sql`
            select id from experiences
            where id = ${experienceId} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode}
              and not archived
            for share`
          if (parents.length === 0) return yield* new RecordNotFound({ record: "Experience" })
          const id = yield* random.uuidV7()
          const now = new Date(yield* Clock.currentTimeMillis)
          const publishedAt = status === "PUBLISHED" ? now : null
          const { slug, title, creativeDocument, ...record } = settings
          const rows = yield* sql<Row>`
            insert into experience_pages
              (id, organization_id, mode, experience_id, slug, title, status, creative_document, record,
                published_at, last_published_at, created_at, created_by, updated_at, updated_by)
            values
              (${id}, ${tenant.organizationId}, ${tenant.mode}, ${experienceId}, ${slug}, ${title}, ${status},
                ${sql.json(creativeDocument)}, ${sql.json(record)},
                ${publishedAt}, ${publishedAt}, ${now}, ${by}, ${now}, ${by})
            returning *`.pipe(orSlugTaken(slug))
          return toPage(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const find = Effect.fn("ExperiencePages.find")(function* (tenant: Tenant, id: string) {
        return yield* one(
          yield* sql<Row>`select p.* from experience_pages p where p.id = ${id} and ${ofTenant(tenant)}`
        )
      }, orUnavailable)

      const list = Effect.fn("ExperiencePages.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>,
        { experienceId, status }: PageFilter
      ) {
        const filter = { experienceId, status }
        const planned = yield* plan(shape, query, { tenant, filter })
        const conditions = [ofWholeTenant(tenant), archivedAsAsked(sql, "p", query)]
        if (experienceId !== undefined) conditions.push(sql`p.experience_id = ${experienceId}`)
        if (status !== undefined) conditions.push(sql`p.status = ${status}`)
        const listed = Search.queryOf(sql, planned, {
          fields: sql`p.id, p.document_bytes`,
          from: sql`experience_pages p`,
          where: sql.and(conditions),
          sought: Search.textSought(sql, { tenant, row: "p", text: "p.title || ' ' || p.slug" }, query.search)
        })
        const rows = yield* sql<Row & RowKey>`
          with listed as materialized (
            select l.*, row_number() over () as nr from (${listed}) l
          ), weighed as (
            select listed.*, sum(document_bytes) over (order by nr) - document_bytes as bytes_before from listed
          )
          select p.*, w."sortKey", w."sortId" from weighed w join experience_pages p on p.id = w.id
          where w.bytes_before < ${documentBytesMax}::int order by w.nr`
        return page(planned, rows, toPage)
      }, orUnavailable)

      const change = Effect.fn("ExperiencePages.change")(
        function* (tenant: Tenant, id: string, by: string, revise: (settings: Settings) => Settings) {
          const rows = yield* sql<Row>`
            select p.* from experience_pages p where p.id = ${id} and ${ofTenant(tenant)} for update`
          if (rows[0] === undefined) return yield* notFound
          const { slug, title, creativeDocument, ...record } = revise(settingsOf(rows[0]))
          const now = new Date(yield* Clock.currentTimeMillis)
          return yield* one(
            yield* sql<Row>`
              update experience_pages
              set slug = ${slug}, title = ${title}, creative_document = ${sql.json(creativeDocument)},
                record = ${sql.json(record)}, updated_at = ${now}, updated_by = ${by}
              where id = ${id} returning *`.pipe(orSlugTaken(slug))
          )
        },
        sql.withTransaction,
        orUnavailable
      )

      const publish = Effect.fn("ExperiencePages.publish")(function* (tenant: Tenant, id: string, by: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* one(
          yield* sql<Row>`
            update experience_pages p
            set status = 'PUBLISHED', published_at = coalesce(p.published_at, ${now}), last_published_at = ${now},
              updated_at = ${now}, updated_by = ${by}
            where p.id = ${id} and ${ofTenant(tenant)} returning *`
        )
      }, orUnavailable)

      const unpublish = Effect.fn("ExperiencePages.unpublish")(function* (tenant: Tenant, id: string, by: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`
          update experience_pages p set status = 'DRAFT', updated_at = ${now}, updated_by = ${by}
          where p.id = ${id} and p.status = 'PUBLISHED' and ${ofTenant(tenant)}`
        return yield* find(tenant, id)
      }, orUnavailable)

      const archive = Effect.fn("ExperiencePages.archive")(function* (tenant: Tenant, id: string, by: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        return yield* one(
          yield* sql<Row>`
            update experience_pages p set archived = true, updated_at = ${now}, updated_by = ${by}
            where p.id = ${id} and ${ofTenant(tenant)} returning *`
        )
      }, orUnavailable)

      const restore = Effect.fn("ExperiencePages.restore")(
        function* (tenant: Tenant, id: string, by: string) {
          // The experience first, as in archiving: two who lock in different orders wait for each other for ever.
          const parents = yield* sql<{ readonly archived: boolean }>`
            select e.archived from experiences e
            where e.id = (select p.experience_id from experience_pages p where p.id = ${id} and ${ofWholeTenant(tenant)})
            for share`
          const parent = parents[0]
          if (parent === undefined) return yield* notFound
          const rows = yield* sql<Row>`select p.* from experience_pages p where p.id = ${id} for update`
          const row = rows[0]!
          if (!row.archived) return toPage(row)
          if (parent.archived) return yield* new ParentArchived({ record: "Experience" })
          const now = new Date(yield* Clock.currentTimeMillis)
          return yield* one(
            yield* sql<Row>`
              update experience_pages set archived = false, updated_at = ${now}, updated_by = ${by}
              where id = ${id} returning *`.pipe(orSlugTaken(row.slug))
          )
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, find, list, change, publish, unpublish, archive, restore }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Experience page" }))

/** Says that the slug is taken, where the database says that it would not be unique. */
const orSlugTaken =
  (slug: string) =>
  <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError | SlugTaken, R> =>
    Effect.catchTag(effect, "SqlError", (error) =>
      Effect.fail(error.reason._tag === "UniqueViolation" ? new SlugTaken({ slug }) : error)
    )

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly experience_id: string
  readonly slug: string
  readonly title: string
  readonly status: PageStatus
  /** As it was decoded when it came. */
  readonly creative_document: Settings["creativeDocument"]
  readonly record: Pick<Settings, "creativeDesignId" | "creativeTemplateKey" | "metadata">
  readonly published_at: Date | null
  readonly last_published_at: Date | null
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

/** What is stored was decoded when it came, and holds nothing that has another form inside. */
const settingsOf = ({ slug, title, creative_document: creativeDocument, record }: Row): Settings => ({
  slug,
  title,
  creativeDocument,
  ...record
})

const toPage = (row: Row): ExperiencePage => ({
  id: row.id,
  organizationId: row.organization_id,
  experienceId: row.experience_id,
  slug: row.slug,
  title: row.title,
  creativeDocument: row.creative_document,
  status: row.status,
  creativeDesignId: row.record.creativeDesignId ?? null,
  creativeTemplateKey: row.record.creativeTemplateKey ?? null,
  metadata: row.record.metadata ?? null,
  publishedAt: row.published_at?.getTime() ?? null,
  lastPublishedAt: row.last_published_at?.getTime() ?? null,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by,
  archived: row.archived
})
