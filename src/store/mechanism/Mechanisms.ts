/**
 * The records of mechanisms, for reads that need no actor. Only the journal writes them, with each commit.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { mechanismSorts, type Kind, type MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Lifecycle, StatusFields } from "../../domain/mechanism/Decider.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode, defaultTimeZone, type RegionalDefaults } from "../../domain/values/Locale.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { listShape, makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { currentPlaces, ofMechanism } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { each } from "../records/Declaration.ts"
import { listed, makeList } from "../records/Lists.ts"
import type { RecordRow } from "../records/Rows.ts"
import * as Search from "../records/Search.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { lifecycleAt } from "./MechanismLifecycle.ts"
import * as Time from "../coordination/Time.ts"

/** A mechanism by name. */
export interface MechanismName {
  readonly id: string
  readonly kind: Kind
}

/** A mechanism's record as it was last committed. */
export interface StoredMechanism {
  readonly identity: MechanismIdentity
  /** The configuration as it was sent, not decoded, and the values that the mechanism has published. */
  readonly configuration: { readonly [name: string]: unknown }
  readonly status: StatusFields
  readonly createdAt: Millis
  readonly createdBy: string
  readonly updatedAt: Millis
  readonly updatedBy: string
}

/** The number of a mechanism's places by status, and the number of its last event. */
export interface Tally {
  readonly counts: { readonly [status: string]: number }
  readonly lastSequence: number
}

/** The filters of a list of mechanisms. */
export interface MechanismFilter {
  readonly experienceId?: string | undefined
  readonly sequenceId?: string | undefined
}

/** The filters of a list of mechanisms of all kinds. */
export interface DistributionFilter {
  readonly type?: Kind | undefined
  readonly lifecycle?: Lifecycle | undefined
  readonly experienceId?: string | undefined
}

/** The list of the mechanisms of one kind. Sorted by `openAt`, mechanisms without one (open at once) come first. */
export const shape = listShape("mechanisms", "m", mechanismSorts, {
  createdAt: "timestamptz",
  name: { expression: "(m.configuration ->> 'name')", type: "text" },
  openAt: { expression: "coalesce((m.configuration ->> 'openAt')::timestamptz, '-infinity')", type: "timestamptz" }
})

/** The list of the mechanisms of all kinds. */
export const distributionShape = { ...shape, name: "distributions" } as const

type Sort = keyof typeof shape.sorts

/** A row of `mechanisms`. */
export interface Row extends RecordRow {
  readonly mode: Mode
  readonly experience_id: string
  readonly sequence_id: string
  readonly kind: Kind
  readonly configuration: { readonly [name: string]: unknown }
  readonly status_override: "ended" | null
  readonly status_override_at: Date | null
  readonly status_override_by: string | null
  readonly teardown_status: "pending" | "completed" | null
}

/** Returns the identity of a mechanism's row. */
export const toIdentity = (
  row: Pick<Row, "id" | "kind" | "organization_id" | "mode" | "experience_id" | "sequence_id">
): MechanismIdentity => ({
  id: row.id,
  kind: row.kind,
  organizationId: row.organization_id,
  mode: row.mode,
  experienceId: row.experience_id,
  sequenceId: row.sequence_id
})

/** Returns the mechanism of a row. */
export const toStored = (row: Row): StoredMechanism => ({
  identity: toIdentity(row),
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

/** The list of mechanisms. */
const listing = {
  service: "Mechanisms",
  table: "mechanisms",
  alias: "m",
  recordsOf: each(toStored),
  list: {
    shape,
    searched: "m.configuration ->> 'name'",
    filters: { kind: "m.kind", experienceId: "m.experience_id", sequenceId: "m.sequence_id" }
  }
}

export class Mechanisms extends Context.Service<
  Mechanisms,
  {
    /** Returns the tenant's mechanism, archived or not. Undefined if there is none. */
    find(tenant: Tenant, id: string): Effect.Effect<StoredMechanism | undefined, Unavailable>
    /** Returns the tenant's mechanisms of a kind. */
    list(
      tenant: Tenant,
      kind: Kind,
      query: PageQuery<Sort>,
      filter: MechanismFilter
    ): Effect.Effect<Page<StoredMechanism>, PageRefused | Unavailable>
    /** Returns the tenant's mechanisms of all kinds. */
    listDistributions(
      tenant: Tenant,
      query: PageQuery<Sort>,
      filter: DistributionFilter
    ): Effect.Effect<Page<StoredMechanism>, PageRefused | Unavailable>
    /** Returns the time zone and the currency that a mechanism inherits from its experience. */
    surroundings(tenant: Tenant, id: string): Effect.Effect<RegionalDefaults, Unavailable>
    /** Counts a mechanism's places and events, for requests while its actor is not available. */
    tally(tenant: Tenant, id: string): Effect.Effect<Tally, Unavailable>
  }
>()("usher/store/mechanism/Mechanisms") {
  static readonly layer = Layer.effect(Mechanisms)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan

      const find = Effect.fn("Mechanisms.find")(function* (tenant: Tenant, id: string) {
        const rows =
          yield* sql<Row>`select m.* from mechanisms m where m.id = ${id} and ${ofTenant(sql, tenant, "m")} and m.kind <> 'stock'`
        return rows[0] === undefined ? undefined : toStored(rows[0])
      }, orUnavailable)

      const list = yield* makeList(listing)

      const listDistributions = Effect.fn("Mechanisms.listDistributions")(function* (
        tenant: Tenant,
        query: PageQuery<Sort>,
        { type, lifecycle, experienceId }: DistributionFilter
      ) {
        const planned = yield* plan(distributionShape, query, { tenant, filter: { type, lifecycle, experienceId } })
        const { where, ...read } = listed(sql, listing, tenant, query, { kind: type, experienceId })
        const now = yield* Time.now
        const ofKinds = sql`${where} and m.kind <> 'stock'`
        const fits = lifecycle === undefined ? ofKinds : sql`${ofKinds} and ${lifecycleAt(sql, now)} = ${lifecycle}`
        const rows = yield* Search.rows<Row>(sql, planned, { ...read, where: fits, fields: sql`m.*` })
        return page(planned, rows, toStored)
      }, orUnavailable)

      const surroundings = Effect.fn("Mechanisms.surroundings")(function* (tenant: Tenant, id: string) {
        const rows = yield* sql<{ readonly time_zone: string; readonly currency_code: string }>`
          select e.record ->> 'timeZone' as time_zone, e.record ->> 'currencyCode' as currency_code
          from mechanisms m join experiences e on e.id = m.experience_id where m.id = ${id} and ${ofTenant(sql, tenant, "m")}`
        return {
          timeZone: rows[0]?.time_zone ?? defaultTimeZone,
          currencyCode: rows[0]?.currency_code ?? defaultCurrencyCode
        }
      }, orUnavailable)

      const tally = Effect.fn("Mechanisms.tally")(function* (tenant: Tenant, id: string) {
        yield* currentPlaces(sql, ofMechanism(sql, id))
        const counts = yield* sql<{ readonly status: string; readonly count: bigint }>`
          select p.status, count(*) as count from mechanisms m join places p on p.mechanism_id = m.id
          where m.id = ${id} and ${ofTenant(sql, tenant, "m")} group by p.status`
        const heads = yield* sql<{ readonly sequence: bigint }>`
          select h.sequence from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
          where m.id = ${id} and ${ofTenant(sql, tenant, "m")}`
        return {
          counts: Object.fromEntries(counts.map(({ status, count }) => [status, Number(count)])),
          lastSequence: Number(heads[0]?.sequence ?? 0n)
        }
      }, orUnavailable)

      return {
        find,
        list: (tenant, kind, query, filter) => list(tenant, query, { ...filter, kind }),
        listDistributions,
        surroundings,
        tally
      }
    })
  )
}
