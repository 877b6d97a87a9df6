/**
 * The mechanisms' records, as the journal keeps them in their table with each commit: for reads that need no actor.
 * Nothing here writes; a mechanism comes into being and changes through the journal alone.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { Kind, Lifecycle, MechanismIdentity, StatusFields } from "../../domain/mechanism/Decider.ts"
import { bounded, ExperienceWindow } from "../../domain/experience/ExperienceWindow.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode, defaultTimeZone, type RegionalDefaults } from "../../domain/values/Locale.ts"
import { type Millis, Timestamp } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import {
  archivedAsAsked,
  type ListShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused,
  type Plan
} from "../records/Pagination.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** A mechanism by name. */
export interface MechanismName {
  readonly id: string
  readonly kind: Kind
}

/** A mechanism's record as it was last committed. */
export interface StoredMechanism {
  readonly identity: MechanismIdentity
  /** The configuration as sent, not decoded, and what the mechanism has published. */
  readonly configuration: { readonly [name: string]: unknown }
  readonly status: StatusFields
  readonly createdAt: Millis
  readonly createdBy: string
  readonly updatedAt: Millis
  readonly updatedBy: string
}

/** What is stored of a mechanism's places and events. */
export interface Tally {
  readonly counts: { readonly [status: string]: number }
  readonly lastSequence: number
}

/** What a list of mechanisms can be narrowed to. */
export interface MechanismFilter {
  readonly experienceId?: string | undefined
  readonly sequenceId?: string | undefined
}

/** What a list of mechanisms of all kinds can be narrowed to. */
export interface DistributionFilter {
  readonly type?: Kind | undefined
  readonly lifecycle?: Lifecycle | undefined
  readonly experienceId?: string | undefined
}

/** The list of the mechanisms of one kind. Sorted by `openAt`, those without one (open at once) come first. */
export const shape = {
  name: "mechanisms",
  sorts: {
    createdAt: { expression: "m.created_at", type: "timestamptz" },
    name: { expression: "(m.configuration ->> 'name')", type: "text" },
    openAt: {
      expression: "coalesce((m.configuration ->> 'openAt')::timestamptz, '-infinity')",
      type: "timestamptz"
    }
  },
  id: { expression: "m.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "name" | "openAt">

/** The list of the mechanisms of all kinds. */
export const distributionShape = { ...shape, name: "distributions" } as const

export class Mechanisms extends Context.Service<
  Mechanisms,
  {
    /** The tenant's mechanism, archived or not; undefined if there is none. */
    find(tenant: Tenant, id: string): Effect.Effect<StoredMechanism | undefined, Unavailable>
    /** The tenant's mechanisms of a kind: those that are not archived, or those that are. */
    list(
      tenant: Tenant,
      kind: Kind,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: MechanismFilter
    ): Effect.Effect<Page<StoredMechanism>, PageRefused | Unavailable>
    /** The same of all kinds. */
    listDistributions(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: DistributionFilter
    ): Effect.Effect<Page<StoredMechanism>, PageRefused | Unavailable>
    /** What a mechanism takes from the experience it belongs to, where it says nothing itself. */
    surroundings(tenant: Tenant, id: string): Effect.Effect<RegionalDefaults, Unavailable>
    /** Counts a mechanism's places, by status, and its events: for when its actor cannot be asked. */
    tally(tenant: Tenant, id: string): Effect.Effect<Tally, Unavailable>
  }
>()("usher/store/mechanism/Mechanisms") {
  static readonly layer = Layer.effect(
    Mechanisms,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan

      const ofTenant = (tenant: Tenant) => sql`m.organization_id = ${tenant.organizationId} and m.mode = ${tenant.mode}`

      const find = Effect.fn("Mechanisms.find")(function* (tenant: Tenant, id: string) {
        const rows = yield* sql<Row>`select m.* from mechanisms m where m.id = ${id} and ${ofTenant(tenant)}`
        return rows[0] === undefined ? undefined : toStored(rows[0])
      }, orUnavailable)

      const listed = Effect.fnUntraced(function* (
        tenant: Tenant,
        planned: Plan,
        query: Pick<PageQuery<never>, "search" | "archived">,
        conditions: ReadonlyArray<Fragment>
      ) {
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`m.*`,
          from: sql`mechanisms m`,
          where: sql.and([ofTenant(tenant), archivedAsAsked(sql, "m", query), ...conditions]),
          sought: Search.textSought(sql, { tenant, row: "m", text: "m.configuration ->> 'name'" }, query.search)
        })
        return page(planned, rows, toStored)
      })

      const list = Effect.fn("Mechanisms.list")(function* (
        tenant: Tenant,
        kind: Kind,
        query: PageQuery<keyof typeof shape.sorts>,
        { experienceId, sequenceId }: MechanismFilter
      ) {
        const filter = { kind, experienceId, sequenceId }
        const planned = yield* plan(shape, query, { tenant, filter })
        const conditions = [sql`m.kind = ${kind}`]
        if (experienceId !== undefined) conditions.push(sql`m.experience_id = ${experienceId}`)
        if (sequenceId !== undefined) conditions.push(sql`m.sequence_id = ${sequenceId}`)
        return yield* listed(tenant, planned, query, conditions)
      }, orUnavailable)

      const listDistributions = Effect.fn("Mechanisms.listDistributions")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>,
        { type, lifecycle, experienceId }: DistributionFilter
      ) {
        const filter = { type, lifecycle, experienceId }
        const planned = yield* plan(distributionShape, query, { tenant, filter })
        const conditions: Array<Fragment> = []
        if (type !== undefined) conditions.push(sql`m.kind = ${type}`)
        if (experienceId !== undefined) conditions.push(sql`m.experience_id = ${experienceId}`)
        if (lifecycle !== undefined) {
          conditions.push(sql`${lifecycleAt(sql, yield* Clock.currentTimeMillis)} = ${lifecycle}`)
        }
        return yield* listed(tenant, planned, query, conditions)
      }, orUnavailable)

      const surroundings = Effect.fn("Mechanisms.surroundings")(function* (tenant: Tenant, id: string) {
        const rows = yield* sql<{ readonly time_zone: string; readonly currency_code: string }>`
          select e.record ->> 'timeZone' as time_zone, e.record ->> 'currencyCode' as currency_code
          from mechanisms m join experiences e on e.id = m.experience_id where m.id = ${id} and ${ofTenant(tenant)}`
        return {
          timeZone: rows[0]?.time_zone ?? defaultTimeZone,
          currencyCode: rows[0]?.currency_code ?? defaultCurrencyCode
        }
      }, orUnavailable)

      const tally = Effect.fn("Mechanisms.tally")(function* (tenant: Tenant, id: string) {
        const counts = yield* sql<{ readonly status: string; readonly count: bigint }>`
          select p.status, count(*) as count from mechanisms m join places p on p.mechanism_id = m.id
          where m.id = ${id} and ${ofTenant(tenant)} group by p.status`
        const heads = yield* sql<{ readonly sequence: bigint }>`
          select h.sequence from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
          where m.id = ${id} and ${ofTenant(tenant)}`
        return {
          counts: Object.fromEntries(counts.map(({ status, count }) => [status, Number(count)])),
          lastSequence: Number(heads[0]?.sequence ?? 0n)
        }
      }, orUnavailable)

      return { find, list, listDistributions, surroundings, tally }
    })
  )
}

/** Where a mechanism stands as far as its record tells. */
export const lifecycleOf = (
  {
    configuration,
    status
  }: Pick<StoredMechanism, "configuration"> & {
    readonly status: Pick<StatusFields, "teardownStatus">
  },
  now: Millis
): Lifecycle => {
  const { openAt, closeAt } = heldTimes(configuration)
  if (status.teardownStatus === "completed") return "closed"
  if (status.teardownStatus === "pending" || (closeAt ?? Infinity) <= now) return "settling"
  return (openAt ?? 0) > now ? "scheduled" : "open"
}

/** The opening and the closing that hold, by the record: what was set, and the window of the experience. */
export const heldTimes = (configuration: StoredMechanism["configuration"]) => bounded(decodeTimes(configuration))

const times = { openAt: Schema.optionalKey(Timestamp), closeAt: Schema.optionalKey(Timestamp) }
const decodeTimes = Schema.decodeUnknownSync(
  Schema.Struct({ ...times, experienceWindow: Schema.optionalKey(ExperienceWindow) })
)

/** The opening that holds, of a mechanism `m`; null if it is open from its creation on. */
export const heldOpenAt = (sql: SqlClient.SqlClient): Fragment => sql`
  greatest(
    (m.configuration ->> 'openAt')::timestamptz, (m.configuration #>> '{experienceWindow,openAt}')::timestamptz
  )`

/** The closing that holds, of a mechanism `m`; null if there is none. */
const heldCloseAt = (sql: SqlClient.SqlClient): Fragment => sql`
  least(
    (m.configuration ->> 'closeAt')::timestamptz, (m.configuration #>> '{experienceWindow,closeAt}')::timestamptz
  )`

/** The same in SQL, of a mechanism `m`. */
const lifecycleAt = (sql: SqlClient.SqlClient, now: Millis): Fragment => {
  const at = sql`${new Date(now)}::timestamptz`
  return sql`
    case
      when m.teardown_status = 'completed' then 'closed'
      when m.teardown_status = 'pending' or ${heldCloseAt(sql)} <= ${at} then 'settling'
      when ${heldOpenAt(sql)} > ${at} then 'scheduled'
      else 'open'
    end`
}

/** A row of `mechanisms`. */
export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly experience_id: string
  readonly sequence_id: string
  readonly kind: Kind
  readonly configuration: { readonly [name: string]: unknown }
  readonly status_override: "ended" | null
  readonly status_override_at: Date | null
  readonly status_override_by: string | null
  readonly teardown_status: "pending" | "completed" | null
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

/** The mechanism of a row. */
export const toStored = (row: Row): StoredMechanism => ({
  identity: {
    id: row.id,
    kind: row.kind,
    organizationId: row.organization_id,
    mode: row.mode,
    experienceId: row.experience_id,
    sequenceId: row.sequence_id
  },
  configuration: row.configuration,
  status: {
    statusOverride: row.status_override,
    statusOverrideAt: row.status_override_at?.getTime() ?? null,
    statusOverrideBy: row.status_override_by,
    teardownStatus: row.teardown_status,
    archived: row.archived
  },
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  updatedAt: row.updated_at.getTime(),
  updatedBy: row.updated_by
})
