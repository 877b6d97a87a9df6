/**
 * Sequences with their mechanisms: made in one transaction, all or nothing, and read as one record.
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

/** Mechanisms that the record of an experience, or of a sequence, shows: the oldest. */
export const recordMechanismsMax = 1_000

/** A sequence that is to come into being; an access code that is null is none. */
export interface NewSequence {
  readonly settings: Settings
  readonly accessCode: string | null
}

/** What there is where a sequence is to come into being, of what it names. */
export interface Above {
  readonly surroundings: RegionalDefaults
  readonly products: ReadonlySet<string>
  /** Those of the variants that the experience does not offer. */
  readonly notOffered: ReadonlySet<string>
}

/** Below what mechanisms are created with a sequence. */
export interface Made {
  readonly sequenceId: string
  readonly experienceWindow: ExperienceWindow | undefined
}

/**
 * A sequence with its mechanisms that are not archived, in the order they were created; if it is archived itself, with those
 * that were archived with it.
 */
export interface SequenceAggregate {
  readonly sequence: Sequence
  readonly mechanisms: ReadonlyArray<StoredMechanism>
}

export class SequenceAggregates extends Context.Service<
  SequenceAggregates,
  {
    /**
     * Makes what `judge` decides on below an experience, given what there is of what was named; `below` makes the rest.
     * All or nothing; what is named stays until then. Answers the sequence's id.
     */
    create<New extends NewSequence, E, E2, R>(
      tenant: Tenant,
      by: string,
      experienceId: string,
      named: NamedProducts,
      judge: (above: Above) => Result.Result<New, E>,
      below: (whole: New, made: Made) => Effect.Effect<unknown, E2, R>
    ): Effect.Effect<string, E | E2 | RecordNotFound | Unavailable, R>
    /** Changes a sequence to what `judge` decides on, given the products there are of those named. */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      productIds: ReadonlyArray<string>,
      judge: (settings: Settings, products: ReadonlySet<string>) => Result.Result<Settings, E>,
      accessCode?: string | null
    ): Effect.Effect<Sequence, E | RecordNotFound | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<SequenceAggregate, RecordNotFound | Unavailable>
    /** A sequence that has just been archived, with the mechanisms that it had `before`, as they are now. */
    archived(
      tenant: Tenant,
      sequence: Sequence,
      before: SequenceAggregate
    ): Effect.Effect<SequenceAggregate, Unavailable>
  }
>()("usher/store/experience/SequenceAggregates") {
  static readonly layer = Layer.effect(
    SequenceAggregates,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sequences = yield* Sequences
      const products = yield* ExperienceProducts

      /** What a mechanism takes from the experience, which stays as it is until the transaction ends. */
      const surroundings = Effect.fnUntraced(function* ({ organizationId, mode }: Tenant, experienceId: string) {
        const rows = yield* sql<RegionalDefaults & WindowRow>`
          select e.record ->> 'timeZone' as "timeZone", e.record ->> 'currencyCode' as "currencyCode",
            ${windowColumns(sql)}
          from experiences e
          where e.id = ${experienceId} and e.organization_id = ${organizationId} and e.mode = ${mode} and not e.archived
          for share`
        return rows[0] ?? (yield* new RecordNotFound({ record: "Experience" }))
      })

      const create = Effect.fn("WholeSequences.create")(
        function* <New extends NewSequence, E, E2, R>(
          tenant: Tenant,
          by: string,
          experienceId: string,
          named: NamedProducts,
          judge: (above: Above) => Result.Result<New, E>,
          below: (whole: New, made: Made) => Effect.Effect<unknown, E2, R>
        ) {
          // The products first, as in changing an experience: two who lock in different orders wait for each other for ever.
          const known = yield* products.held(tenant, named)
          const experience = yield* surroundings(tenant, experienceId)
          const whole = yield* Effect.fromResult(
            judge({
              surroundings: experience,
              products: known.products,
              notOffered: yield* products.variantsNotOffered(tenant, experienceId, named.variantIds)
            })
          )
          const { id } = yield* sequences.create(tenant, by, experienceId, whole.settings, whole.accessCode)
          yield* below(whole, { sequenceId: id, experienceWindow: toWindow(experience) })
          return id
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("WholeSequences.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          productIds: ReadonlyArray<string>,
          judge: (settings: Settings, products: ReadonlySet<string>) => Result.Result<Settings, E>,
          accessCode?: string | null
        ) {
          const known = yield* products.held(tenant, { productIds, variantIds: [] })
          return yield* sequences.change(tenant, id, by, (settings) => judge(settings, known.products), accessCode)
        },
        sql.withTransaction,
        orUnavailable
      )

      /** The sequence with those of its mechanisms `m` that fit. */
      const withThose = Effect.fnUntraced(function* (
        { organizationId, mode }: Tenant,
        sequence: Sequence,
        those: Fragment
      ) {
        const rows = yield* sql<MechanismRow>`
          select m.* from mechanisms m
          where m.sequence_id = ${sequence.id} and m.organization_id = ${organizationId} and m.mode = ${mode}
            and ${those}
          order by m.created_at, m.id limit ${recordMechanismsMax}`
        return { sequence, mechanisms: rows.map(toStored) }
      })

      const find = Effect.fn("WholeSequences.find")(function* (tenant: Tenant, id: string) {
        return yield* withThose(tenant, yield* sequences.find(tenant, id), sql`not m.archived`)
      }, orUnavailable)

      const archived = Effect.fn("WholeSequences.archived")(function* (
        tenant: Tenant,
        sequence: Sequence,
        { mechanisms }: SequenceAggregate
      ) {
        const ids = mechanisms.map(({ identity }) => identity.id)
        return yield* withThose(tenant, sequence, sql`m.id = any(${ids}::uuid[])`)
      }, orUnavailable)

      return { create, change, find, archived }
    })
  )
}
