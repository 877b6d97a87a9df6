/**
 * Sequences with their mechanisms. One transaction creates a whole sequence, and one read returns it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { ExperienceWindow } from "../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { RegionalDefaults } from "../../domain/values/Locale.ts"
import type { Sequence, Settings } from "../../domain/experience/Sequence.ts"
import { ExperienceProducts, type NamedProducts } from "./ExperienceProducts.ts"
import { toWindow, windowColumns, type WindowRow } from "./ExperienceWindows.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Row as MechanismRow, type StoredMechanism, toStored } from "../mechanism/Mechanisms.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { Sequences } from "./Sequences.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"

/** The maximum of mechanisms in the record of an experience or a sequence. The oldest are shown. */
export const recordMechanismsMax = 1_000

/** A sequence to create. A null access code means none. */
export interface NewSequence {
  readonly settings: Settings
  readonly accessCode: string | null
}

/** The experience and the named records that exist, for a sequence to create. */
export interface ParentContext {
  readonly surroundings: RegionalDefaults
  readonly products: ReadonlySet<string>
  /** The named variants that the experience does not offer. */
  readonly notOffered: ReadonlySet<string>
}

/** The sequence below which mechanisms are created. */
export interface CreatedSequence {
  readonly sequenceId: string
  readonly experienceWindow: ExperienceWindow | undefined
}

/**
 * A sequence with its unarchived mechanisms, sorted by creation. An archived one has the mechanisms that were archived
 * with it.
 */
export interface SequenceAggregate {
  readonly sequence: Sequence
  readonly mechanisms: ReadonlyArray<StoredMechanism>
}

export class SequenceAggregates extends Context.Service<
  SequenceAggregates,
  {
    /**
     * Creates the sequence that `validate` returns for the existing records. `createMechanisms` creates the rest. All or nothing. The
     * named records are locked until the end. Returns the sequence's id.
     */
    create<New extends NewSequence, E, E2, R>(
      tenant: Tenant,
      by: string,
      experienceId: string,
      named: NamedProducts,
      validate: (context: ParentContext) => Result.Result<New, E>,
      createMechanisms: (whole: New, created: CreatedSequence) => Effect.Effect<unknown, E2, R>
    ): Effect.Effect<string, E | E2 | RecordNotFound | Unavailable, R>
    /** Changes a sequence to the result of `validate` for the named products that exist. */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      productIds: ReadonlyArray<string>,
      validate: (settings: Settings, products: ReadonlySet<string>) => Result.Result<Settings, E>,
      accessCode?: string | null
    ): Effect.Effect<Sequence, E | RecordNotFound | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<SequenceAggregate, RecordNotFound | Unavailable>
    /** Returns a sequence that has just been archived, with the mechanisms that it had `before`, as they are now. */
    archived(
      tenant: Tenant,
      sequence: Sequence,
      before: SequenceAggregate
    ): Effect.Effect<SequenceAggregate, Unavailable>
  }
>()("usher/store/experience/SequenceAggregates") {
  static readonly layer = Layer.effect(SequenceAggregates)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sequences = yield* Sequences
      const products = yield* ExperienceProducts

      const create = Effect.fn("SequenceAggregates.create")(
        function* <New extends NewSequence, E, E2, R>(
          tenant: Tenant,
          by: string,
          experienceId: string,
          named: NamedProducts,
          validate: (context: ParentContext) => Result.Result<New, E>,
          createMechanisms: (whole: New, created: CreatedSequence) => Effect.Effect<unknown, E2, R>
        ) {
          // The products are locked first, as in changing an experience. Another lock order could deadlock.
          const known = yield* products.held(tenant, named)
          const experience = yield* surroundings(sql, tenant, experienceId)
          const whole = yield* Effect.fromResult(
            validate({
              surroundings: experience,
              products: known.products,
              notOffered: yield* products.variantsNotOffered(tenant, experienceId, named.variantIds)
            })
          )
          const { id } = yield* sequences.create(tenant, by, experienceId, whole.settings, whole.accessCode)
          yield* createMechanisms(whole, { sequenceId: id, experienceWindow: toWindow(experience) })
          return id
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("SequenceAggregates.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          productIds: ReadonlyArray<string>,
          validate: (settings: Settings, products: ReadonlySet<string>) => Result.Result<Settings, E>,
          accessCode?: string | null
        ) {
          const known = yield* products.held(tenant, { productIds, variantIds: [] })
          return yield* sequences.change(tenant, id, by, (settings) => validate(settings, known.products), accessCode)
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, change, ...(yield* makeReads) }
    })
  )
}

/** Returns the values that a mechanism inherits from the experience, which is locked. */
const surroundings = Effect.fnUntraced(function* (sql: PgClient.PgClient, tenant: Tenant, experienceId: string) {
  const rows = yield* sql<RegionalDefaults & WindowRow>`
    select e.record ->> 'timeZone' as "timeZone", e.record ->> 'currencyCode' as "currencyCode",
      ${windowColumns(sql)}
    from experiences e
    where e.id = ${experienceId} and ${unarchivedOf(sql, tenant, "e")}
    for share`
  return rows[0] ?? (yield* new RecordNotFound({ record: "Experience" }))
})

const makeReads = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sequences = yield* Sequences

  /** Returns the sequence with those of its mechanisms `m` that meet the condition. */
  const withFiltered = Effect.fnUntraced(function* (tenant: Tenant, sequence: Sequence, filter: Fragment) {
    const rows = yield* sql<MechanismRow>`
      select m.* from mechanisms m
      where m.sequence_id = ${sequence.id} and ${ofTenant(sql, tenant, "m")}
        and ${filter}
      order by m.created_at, m.id limit ${recordMechanismsMax}`
    return { sequence, mechanisms: rows.map(toStored) }
  })

  const find = Effect.fn("SequenceAggregates.find")(function* (tenant: Tenant, id: string) {
    return yield* withFiltered(tenant, yield* sequences.find(tenant, id), sql`not m.archived`)
  }, orUnavailable)

  const archived = Effect.fn("SequenceAggregates.archived")(function* (
    tenant: Tenant,
    sequence: Sequence,
    { mechanisms }: SequenceAggregate
  ) {
    const ids = mechanisms.map(({ identity }) => identity.id)
    return yield* withFiltered(tenant, sequence, sql`m.id = any(${ids}::uuid[])`)
  }, orUnavailable)

  return { find, archived }
})
