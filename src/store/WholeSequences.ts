/**
 * Sequences with their mechanisms: made in one transaction, all or nothing, and read as one record.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { Tenant } from "../domain/Ids.ts"
import type { Surroundings } from "../domain/Locale.ts"
import type { Sequence, Settings } from "../domain/Sequence.ts"
import { ExperienceProducts, type Named } from "./ExperienceProducts.ts"
import type { Unavailable } from "./Journal.ts"
import { type Row as MechanismRow, type StoredMechanism, toStored } from "./Mechanisms.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { Sequences } from "./Sequences.ts"
import { orUnavailable } from "./SqlFailure.ts"

/** Mechanisms that the record of an experience, or of a sequence, shows: the oldest. */
export const recordMechanismsMax = 1_000

/** A sequence that is to come into being; an access code that is null is none. */
export interface NewSequence {
  readonly settings: Settings
  readonly accessCode: string | null
}

/** What there is where a sequence is to come into being, of what it names. */
export interface Above {
  readonly surroundings: Surroundings
  readonly products: ReadonlySet<string>
  /** Those of the variants that the experience does not offer. */
  readonly notOffered: ReadonlySet<string>
}

/** A sequence with its mechanisms that are not archived, in the order they were created. */
export interface WholeSequence {
  readonly sequence: Sequence
  readonly mechanisms: ReadonlyArray<StoredMechanism>
}

export class WholeSequences extends Context.Service<
  WholeSequences,
  {
    /**
     * Makes what `judge` decides on below an experience, given what there is of what was named; `below` makes the rest.
     * All or nothing; what is named stays until then. Answers the sequence's id.
     */
    create<New extends NewSequence, E, E2, R>(
      tenant: Tenant,
      by: string,
      experienceId: string,
      named: Named,
      judge: (above: Above) => Result.Result<New, E>,
      below: (whole: New, sequenceId: string) => Effect.Effect<unknown, E2, R>
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
    find(tenant: Tenant, id: string): Effect.Effect<WholeSequence, RecordNotFound | Unavailable>
  }
>()("usher/store/WholeSequences") {
  static readonly layer = Layer.effect(
    WholeSequences,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sequences = yield* Sequences
      const products = yield* ExperienceProducts

      /** What a mechanism takes from the experience, which stays as it is until the transaction ends. */
      const surroundings = Effect.fnUntraced(function* ({ organizationId, mode }: Tenant, experienceId: string) {
        const rows = yield* sql<Surroundings>`
          select record ->> 'timeZone' as "timeZone", record ->> 'currencyCode' as "currencyCode" from experiences
          where id = ${experienceId} and organization_id = ${organizationId} and mode = ${mode} and not archived
          for share`
        return rows[0] ?? (yield* new RecordNotFound({ record: "Experience" }))
      })

      const create = Effect.fn("WholeSequences.create")(
        function* <New extends NewSequence, E, E2, R>(
          tenant: Tenant,
          by: string,
          experienceId: string,
          named: Named,
          judge: (above: Above) => Result.Result<New, E>,
          below: (whole: New, sequenceId: string) => Effect.Effect<unknown, E2, R>
        ) {
          // The products first, as in changing an experience: two who lock in different orders wait for each other for ever.
          const known = yield* products.held(tenant, named)
          const whole = yield* Effect.fromResult(
            judge({
              surroundings: yield* surroundings(tenant, experienceId),
              products: known.products,
              notOffered: yield* products.variantsNotOffered(tenant, experienceId, named.variantIds)
            })
          )
          const { id } = yield* sequences.create(tenant, by, experienceId, whole.settings, whole.accessCode)
          yield* below(whole, id)
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

      const find = Effect.fn("WholeSequences.find")(function* (tenant: Tenant, id: string) {
        const sequence = yield* sequences.find(tenant, id)
        const rows = yield* sql<MechanismRow>`
          select m.* from mechanisms m
          where m.sequence_id = ${id} and m.organization_id = ${tenant.organizationId} and m.mode = ${tenant.mode}
            and not m.archived
          order by m.created_at, m.id limit ${recordMechanismsMax}`
        return { sequence, mechanisms: rows.map(toStored) }
      }, orUnavailable)

      return { create, change, find }
    })
  )
}
