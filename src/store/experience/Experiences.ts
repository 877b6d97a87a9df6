/**
 * The experiences. Each is a row with its settings as one JSON value; its window, where not set, is read from its
 * mechanisms.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type Experience, Settings } from "../../domain/experience/Experience.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode, defaultTimeZone, type RegionalDefaults } from "../../domain/values/Locale.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { MechanismName } from "../mechanism/Mechanisms.ts"
import {
  archivedAsAsked,
  type ListShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused
} from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { makeAccessCodeHash, tellProtection } from "./SequenceAccess.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** What archiving found: it is done, or these mechanisms must be archived first. */
export type Archival<A> =
  | { readonly _tag: "Archived"; readonly record: A }
  | { readonly _tag: "Occupied"; readonly mechanisms: ReadonlyArray<MechanismName> }

/** The list of experiences (interface document 8.3). Sorted by `openAt`, those without one come last. */
export const shape = {
  name: "experiences",
  sorts: {
    createdAt: { expression: "e.created_at", type: "timestamptz" },
    name: { expression: "e.name", type: "text" },
    openAt: {
      expression: "coalesce((e.record ->> 'openAt')::timestamptz, w.open_at, 'infinity')",
      type: "timestamptz"
    }
  },
  id: { expression: "e.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "name" | "openAt">

export class Experiences extends Context.Service<
  Experiences,
  {
    /** The organization's time zone and currency, for experiences that name none. */
    defaults(tenant: Tenant): Effect.Effect<RegionalDefaults, Unavailable>
    /** An access code that is absent or null is none. */
    create(
      tenant: Tenant,
      by: string,
      settings: Settings,
      accessCode?: string | null
    ): Effect.Effect<Experience, Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Experience, RecordNotFound | Unavailable>
    /** What was set, without what it has from its mechanisms. */
    settings(tenant: Tenant, id: string): Effect.Effect<Settings, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Experience>, PageRefused | Unavailable>
    /**
     * Replaces the settings by what `revise` makes of them, unless it refuses; nobody else changes them meanwhile. An
     * access code that is absent stays, null takes it away; who has shown an earlier one need not show the new one. Its
     * mechanisms are to be told when the window has changed (`ExperienceWindows`).
     */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>,
      accessCode?: string | null
    ): Effect.Effect<Experience, E | RecordNotFound | Unavailable>
    /** Archives the experience and its sequences, if none of its mechanisms is left. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<Archival<Experience>, RecordNotFound | Unavailable>
    /** Takes the experience out of the archive, and nothing that is below it. */
    restore(tenant: Tenant, id: string, by: string): Effect.Effect<Experience, RecordNotFound | Unavailable>
  }
>()("usher/store/experience/Experiences") {
  static readonly layer = Layer.effect(
    Experiences,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const hashOf = yield* makeAccessCodeHash

      const select = (tenant: Tenant) => sql`
        select e.*, w.open_at, w.close_at
        from experiences e ${withWindow(sql)}
        where e.organization_id = ${tenant.organizationId} and e.mode = ${tenant.mode}`

      const byId = (tenant: Tenant, id: string) =>
        sql<Row>`${select(tenant)} and e.id = ${id}`.pipe(Effect.map((rows) => rows[0]))

      /** Keeps the row to this transaction, and out of the hands of those who create something below it. */
      const locked = (tenant: Tenant, id: string) =>
        sql<{ readonly name: string; readonly record: unknown }>`
          select name, record from experiences
          where id = ${id} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode} and not archived
          for update`.pipe(Effect.flatMap(([row]) => (row === undefined ? notFound : Effect.succeed(row))))

      const create = Effect.fn("Experiences.create")(function* (
        tenant: Tenant,
        by: string,
        settings: Settings,
        accessCode: string | null = null
      ) {
        const id = yield* random.uuidV7()
        const now = new Date(yield* Clock.currentTimeMillis)
        const { name, ...record } = encode(settings)
        yield* sql`
          insert into experiences
            (id, organization_id, mode, name, record, access_code_hash, created_at, created_by, updated_at, updated_by)
          values
            (${id}, ${tenant.organizationId}, ${tenant.mode}, ${name}, ${sql.json(record)},
              ${accessCode === null ? null : hashOf(id, accessCode)}, ${now}, ${by}, ${now}, ${by})`
        return toExperience((yield* byId(tenant, id))!)
      }, orUnavailable)

      const find = Effect.fn("Experiences.find")(function* (tenant: Tenant, id: string) {
        const row = yield* byId(tenant, id)
        return row === undefined || row.archived ? yield* notFound : toExperience(row)
      }, orUnavailable)

      const settings = Effect.fn("Experiences.settings")(function* (tenant: Tenant, id: string) {
        const row = yield* byId(tenant, id)
        return row === undefined || row.archived ? yield* notFound : settingsOf(row)
      }, orUnavailable)

      const list = Effect.fn("Experiences.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>
      ) {
        const planned = yield* plan(shape, query, { tenant, filter: {} })
        const window = withWindow(sql)
        const isSortedByWindow = planned.sort.expression === shape.sorts.openAt.expression
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`e.*, w.open_at, w.close_at`,
          from: isSortedByWindow ? sql`experiences e ${window}` : sql`experiences e`,
          beside: isSortedByWindow ? undefined : window,
          where: sql`e.organization_id = ${tenant.organizationId} and e.mode = ${tenant.mode}
            and ${archivedAsAsked(sql, "e", query)}`,
          sought: Search.textSought(sql, { tenant, row: "e", text: "e.name" }, query.search)
        })
        return page(planned, rows, toExperience)
      }, orUnavailable)

      const change = Effect.fn("Experiences.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          revise: (settings: Settings) => Result.Result<Settings, E>,
          accessCode?: string | null
        ) {
          const row = yield* locked(tenant, id)
          const before = settingsOf(row)
          const settings = yield* Effect.fromResult(revise(before))
          const { name, ...record } = encode(settings)
          const windowChanges = settings.openAt !== before.openAt || settings.closeAt !== before.closeAt
          const now = new Date(yield* Clock.currentTimeMillis)
          const hash = typeof accessCode === "string" ? hashOf(id, accessCode) : null
          yield* sql`
            update experiences
            set name = ${name}, record = ${sql.json(record)},
              window_revision = window_revision + ${windowChanges ? 1 : 0},
              access_code_hash = ${accessCode === undefined ? sql`access_code_hash` : sql`${hash}`},
              updated_at = ${now}, updated_by = ${by}
            where id = ${id}`
          if (accessCode !== undefined) yield* tellProtection(sql, sql`s.experience_id = ${id}`)
          return toExperience((yield* byId(tenant, id))!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const archive = Effect.fn("Experiences.archive")(
        function* (tenant: Tenant, id: string, by: string) {
          yield* locked(tenant, id)
          const mechanisms = yield* sql<MechanismName>`
            select id, kind from mechanisms where experience_id = ${id} and not archived`
          if (mechanisms.length > 0) return { _tag: "Occupied" as const, mechanisms }
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`
            update sequences set archived = true, updated_at = ${now}, updated_by = ${by}
            where experience_id = ${id} and not archived`
          yield* tellProtection(sql, sql`s.experience_id = ${id}`)
          yield* sql`
            update experience_pages set archived = true, updated_at = ${now}, updated_by = ${by}
            where experience_id = ${id} and not archived`
          yield* sql`update experiences set archived = true, updated_at = ${now}, updated_by = ${by} where id = ${id}`
          return { _tag: "Archived" as const, record: toExperience((yield* byId(tenant, id))!) }
        },
        sql.withTransaction,
        orUnavailable
      )

      const restore = Effect.fn("Experiences.restore")(function* (tenant: Tenant, id: string, by: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`
          update experiences set archived = false, updated_at = ${now}, updated_by = ${by}
          where id = ${id} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode} and archived`
        return yield* find(tenant, id)
      }, orUnavailable)

      const defaults = Effect.fn("Experiences.defaults")(function* (tenant: Tenant) {
        const rows = yield* sql<{ readonly time_zone: string | null; readonly currency_code: string | null }>`
          select settings ->> 'timeZone' as time_zone, settings ->> 'currencyCode' as currency_code
          from organizations where id = ${tenant.organizationId}`
        return {
          timeZone: rows[0]?.time_zone ?? defaultTimeZone,
          currencyCode: rows[0]?.currency_code ?? defaultCurrencyCode
        }
      }, orUnavailable)

      return { defaults, create, find, settings, list, change, archive, restore }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Experience" }))

/**
 * Joins to experiences `e` the window `w` of their mechanisms, looked up by index: the earliest opening and the latest
 * closing of those that have one. Waitlists are no part of it, as they collect interest before the opening.
 */
export const withWindow = (sql: SqlClient.SqlClient): Fragment => sql`
  cross join lateral (
    select
      min((configuration ->> 'openAt')::timestamptz) as open_at,
      max((configuration ->> 'closeAt')::timestamptz) as close_at
    from mechanisms where experience_id = e.id and not archived and kind <> 'waitlist'
  ) w`

/** A row of `experiences` and its window. */
export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly record: unknown
  readonly open_at: Date | null
  readonly close_at: Date | null
  readonly access_code_hash: Uint8Array | null
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

const encode = Schema.encodeSync(Settings)
const decode = Schema.decodeUnknownSync(Settings)

const settingsOf = ({ name, record }: { readonly name: string; readonly record: unknown }): Settings =>
  decode({ ...(record as object), name })

/** The experience of a row. */
export const toExperience = (row: Row): Experience => {
  const settings = settingsOf(row)
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: settings.name,
    openAt: settings.openAt ?? row.open_at?.getTime() ?? null,
    closeAt: settings.closeAt ?? row.close_at?.getTime() ?? null,
    timeZone: settings.timeZone,
    currencyCode: settings.currencyCode,
    theme: settings.theme ?? null,
    i18n: settings.i18n ?? null,
    hasAccessCode: row.access_code_hash !== null,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by,
    updatedAt: row.updated_at.getTime(),
    updatedBy: row.updated_by,
    archived: row.archived
  }
}
