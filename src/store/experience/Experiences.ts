/**
 * The experiences. Each is a row with its settings as one JSON value. An unset window is read from the mechanisms.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type Experience, Settings, experienceSorts } from "../../domain/experience/Experience.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode, defaultTimeZone, type RegionalDefaults } from "../../domain/values/Locale.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listed } from "../records/Lists.ts"
import { listShape, makePlan, page, type PageQuery } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, make, type Readable, type Revisable } from "../records/Records.ts"
import { identityAndStamps, type RecordRow, stampOf, stamped } from "../records/Rows.ts"
import * as Search from "../records/Search.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import type { Statements } from "../records/Statements.ts"
import { type HasMechanisms, findMechanisms } from "../mechanism/HasMechanisms.ts"
import { type AccessCodeHash, makeAccessCodeHash, tellProtection } from "./SequenceAccess.ts"

/** The list of experiences. Sorted by `openAt`, experiences without one come last. */
export const shape = listShape("experiences", "e", experienceSorts, {
  createdAt: "timestamptz",
  name: "text",
  openAt: { expression: "coalesce((e.record ->> 'openAt')::timestamptz, w.open_at, 'infinity')", type: "timestamptz" }
})

type Sort = keyof typeof shape.sorts

/** A row of `experiences` and its window. */
export interface Row extends RecordRow {
  readonly name: string
  readonly record: object
  readonly window_revision: number
  readonly open_at: Date | null
  readonly close_at: Date | null
  readonly access_code_hash: Uint8Array | null
}

const { columnsOf, settingsOf, shownOf } = makeSettingsColumns(Settings, { name: "name" })

export const toExperience = (row: Row): Experience => {
  const settings = shownOf(row)
  return {
    ...identityAndStamps(row),
    ...settings,
    openAt: settings.openAt ?? row.open_at?.getTime() ?? null,
    closeAt: settings.closeAt ?? row.close_at?.getTime() ?? null,
    window: { openAt: settings.openAt ?? null, closeAt: settings.closeAt ?? null },
    hasAccessCode: row.access_code_hash !== null
  }
}

/**
 * Joins to experiences `e` the window `w` of their mechanisms, by index: the earliest opening and the latest closing of
 * those that have one. Waitlists do not count, because they collect interest before the opening.
 */
export const withWindow = (sql: SqlClient.SqlClient): Fragment => sql`
  cross join lateral (
    select
      min((configuration ->> 'openAt')::timestamptz) as open_at,
      max((configuration ->> 'closeAt')::timestamptz) as close_at
    from mechanisms where experience_id = e.id and not archived and kind <> 'waitlist'
  ) w`

const declaration: Declaration<Row, Experience, Sort, HasMechanisms> = {
  service: "Experiences",
  record: "Experience",
  table: "experiences",
  alias: "e",
  fields: (sql) => sql`e.*, w.open_at, w.close_at`,
  joined: withWindow,
  recordsOf: each(toExperience),
  list: { shape, searched: "e.name" },
  blockedBy: (sql, { id }) => findMechanisms(sql, sql`experience_id = ${id}`),
  archiveBelow: Effect.fnUntraced(function* (sql, { id }, stamp) {
    const archived = sql.update({ ...stamped(stamp), archived: true })
    yield* sql`update sequences set ${archived} where experience_id = ${id} and not archived`
    yield* tellProtection(sql, sql`s.experience_id = ${id}`)
    yield* sql`update experience_pages set ${archived} where experience_id = ${id} and not archived`
  })
}

/**
 * The experiences. An experience with mechanisms cannot be archived. Its sequences and pages are archived with it. A
 * change can replace the access code: null removes it. A consumer who has sent an earlier code need not send the new
 * one. If the window has changed, the caller notifies the mechanisms (`ExperienceWindows`).
 */
export class Experiences extends Context.Service<
  Experiences,
  Readable<Experience, Sort> &
    Revisable<Experience, Settings, never, string | null> &
    Archivable<Experience, HasMechanisms> & {
      /** Returns the organization's time zone and currency, for experiences without their own. */
      defaults(tenant: Tenant): Effect.Effect<RegionalDefaults, Unavailable>
      /** Creates an experience. An absent or null access code means none. */
      create(
        tenant: Tenant,
        by: string,
        settings: Settings,
        accessCode?: string | null
      ): Effect.Effect<Experience, Unavailable>
      /** Returns the settings as they were set, without the window of the mechanisms. */
      settings(tenant: Tenant, id: string): Effect.Effect<Settings, RecordNotFound | Unavailable>
    }
>()("usher/store/experience/Experiences") {
  static readonly layer = Layer.effect(Experiences)(
    Effect.gen(function* () {
      const hashOf = yield* makeAccessCodeHash
      const { sql, statements, ...operations } = yield* make(declaration)

      const create = Effect.fn("Experiences.create")(function* (
        tenant: Tenant,
        by: string,
        settings: Settings,
        accessCode: string | null = null
      ) {
        const row = yield* statements.insert(tenant, yield* stampOf(by), (id) => ({
          ...columnsOf(sql, settings),
          access_code_hash: accessCode === null ? null : hashOf(id, accessCode)
        }))
        return toExperience(row)
      }, orUnavailable)

      const settings = Effect.fn("Experiences.settings")(function* (tenant: Tenant, id: string) {
        return settingsOf(yield* statements.find(tenant, id))
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

      return {
        ...operations,
        defaults,
        create,
        settings,
        list: yield* makeExperienceList,
        change: makeChange(sql, hashOf, statements)
      }
    })
  )
}

const makeChange = (sql: PgClient.PgClient, hashOf: AccessCodeHash, { lock, update }: Statements<Row, Experience>) =>
  Effect.fn("Experiences.change")(
    function* <E>(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>,
      accessCode?: string | null
    ) {
      const row = yield* lock(tenant, id)
      const before = settingsOf(row)
      const settings = yield* Effect.fromResult(revise(before))
      const windowChanges = settings.openAt !== before.openAt || settings.closeAt !== before.closeAt
      const hash = typeof accessCode === "string" ? hashOf(id, accessCode) : null
      const changed = yield* update(id, yield* stampOf(by), {
        ...columnsOf(sql, settings),
        window_revision: row.window_revision + (windowChanges ? 1 : 0),
        ...(accessCode !== undefined && { access_code_hash: hash })
      })
      if (accessCode !== undefined) yield* tellProtection(sql, sql`s.experience_id = ${id}`)
      return toExperience(changed)
    },
    sql.withTransaction,
    orUnavailable
  )

/** The list joins the window for the page alone, unless the window sorts the list. */
const makeExperienceList = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const plan = yield* makePlan
  return Effect.fn("Experiences.list")(function* (tenant: Tenant, query: PageQuery<Sort>) {
    const planned = yield* plan(shape, query, { tenant, filter: {} })
    const window = withWindow(sql)
    const isSortedByWindow = planned.sort.expression === shape.sorts.openAt.expression
    const rows = yield* Search.rows<Row>(sql, planned, {
      ...listed(sql, declaration, tenant, query),
      fields: sql`e.*, w.open_at, w.close_at`,
      ...(isSortedByWindow ? { from: sql`experiences e ${window}` } : { beside: window })
    })
    return page(planned, rows, toExperience)
  }, orUnavailable)
})
