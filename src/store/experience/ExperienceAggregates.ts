/**
 * Experiences with all records below them. One transaction creates a whole experience, and one read returns it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Experience, Settings } from "../../domain/experience/Experience.ts"
import type { ExperienceProduct, Offer } from "../../domain/experience/ExperienceProduct.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type UnknownReferences, unknownWithin } from "../catalogue/CatalogueReferences.ts"
import { type ProductDraft, Products } from "../catalogue/Products.ts"
import { ExperienceProducts, type KnownProducts, type NamedProducts } from "./ExperienceProducts.ts"
import { Experiences } from "./Experiences.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Row as MechanismRow, toStored } from "../mechanism/Mechanisms.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Row as SequenceRow, Sequences, toSequence } from "./Sequences.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type NewSequence, recordMechanismsMax, type SequenceAggregate } from "./SequenceAggregates.ts"
import { hold } from "../records/Statements.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"

/** The maximum of sequences in the record of an experience. Those of highest priority are shown. */
export const recordSequencesMax = 200

/** The records that a request names when it creates or changes an experience. */
export interface NamedRecords extends NamedProducts {
  readonly audienceIds: ReadonlyArray<string>
  /** Products that are created with the experience. */
  readonly newProducts: ReadonlyArray<ProductDraft>
}

/** The named records that the tenant has. */
export interface KnownRecords extends KnownProducts {
  readonly audiences: ReadonlySet<string>
  /** The ids of the products that were created, in their order. */
  readonly created: ReadonlyArray<string>
}

/** An experience to create. A null access code means none. */
export interface NewExperience {
  readonly settings: Settings
  readonly accessCode: string | null
  readonly offers: ReadonlyArray<Offer>
  readonly sequences: ReadonlyArray<NewSequence>
}

/** The ids of the created records. The sequences are in the order of the request. */
export interface CreatedIds {
  readonly experienceId: string
  readonly sequenceIds: ReadonlyArray<string>
}

/** The change of an experience. Undefined offers do not change. */
export interface Change {
  readonly settings: Settings
  readonly offers: ReadonlyArray<Offer> | undefined
}

/** An experience with all unarchived records below it. An archived one has the records that were archived with it. */
export interface ExperienceAggregate {
  readonly experience: Experience
  readonly products: ReadonlyArray<ExperienceProduct>
  /** Sorted by priority, the highest first. The mechanisms of each are sorted by creation. */
  readonly sequences: ReadonlyArray<SequenceAggregate>
}

export class ExperienceAggregates extends Context.Service<
  ExperienceAggregates,
  {
    /**
     * Creates the experience that `validate` returns for the existing records, with its products and sequences. `createMechanisms`
     * creates the rest. All or nothing. The named records are locked until the end. The path of an unknown reference of a
     * new product begins with `newProducts`.
     */
    create<New extends NewExperience, E, E2, R>(
      tenant: Tenant,
      by: string,
      named: NamedRecords,
      validate: (known: KnownRecords) => Result.Result<New, E>,
      createMechanisms: (whole: New, created: CreatedIds) => Effect.Effect<unknown, E2, R>
    ): Effect.Effect<CreatedIds, E | E2 | UnknownReferences | RecordNotFound | Unavailable, R>
    /** Changes an experience and its offers to the result of `validate`. For access codes see `Experiences`. */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      named: NamedProducts,
      validate: (settings: Settings, known: KnownProducts) => Result.Result<Change, E>,
      accessCode?: string | null
    ): Effect.Effect<Experience, E | RecordNotFound | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<ExperienceAggregate, RecordNotFound | Unavailable>
    /** Returns an experience that has just been archived, with the current state of the records below it `before`. */
    archived(
      tenant: Tenant,
      experience: Experience,
      before: ExperienceAggregate
    ): Effect.Effect<ExperienceAggregate, Unavailable>
    /** The experience's sequences that are not archived. */
    sequenceIds(tenant: Tenant, id: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
  }
>()("usher/store/experience/ExperienceAggregates") {
  static readonly layer = Layer.effect(ExperienceAggregates)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const experiences = yield* Experiences
      const sequences = yield* Sequences
      const products = yield* ExperienceProducts
      const createProduct = yield* makeCreateProduct

      const create = Effect.fn("ExperienceAggregates.create")(
        function* <New extends NewExperience, E, E2, R>(
          tenant: Tenant,
          by: string,
          named: NamedRecords,
          validate: (known: KnownRecords) => Result.Result<New, E>,
          createMechanisms: (whole: New, created: CreatedIds) => Effect.Effect<unknown, E2, R>
        ) {
          const held = yield* hold(sql, tenant, "audiences", named.audienceIds)
          const audiences = new Set(held.map(({ id }) => id))
          const created = yield* Effect.forEach(named.newProducts, createProduct(tenant, by))
          const productIds = [...named.productIds, ...created]
          const known = { ...(yield* products.held(tenant, { ...named, productIds })), audiences, created }
          const whole = yield* Effect.fromResult(validate(known))
          const { id: experienceId } = yield* experiences.create(tenant, by, whole.settings, whole.accessCode)
          yield* products.replace(tenant, experienceId, whole.offers)
          const sequenceIds = yield* Effect.forEach(whole.sequences, ({ settings, accessCode }) =>
            Effect.map(sequences.create(tenant, by, experienceId, settings, accessCode), ({ id }) => id)
          )
          const ids = { experienceId, sequenceIds }
          yield* createMechanisms(whole, ids)
          return ids
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("ExperienceAggregates.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          named: NamedProducts,
          validate: (settings: Settings, known: KnownProducts) => Result.Result<Change, E>,
          accessCode?: string | null
        ) {
          const known = yield* products.held(tenant, named)
          let offers: ReadonlyArray<Offer> | undefined
          const revise = (before: Settings) =>
            Result.map(validate(before, known), (next) => {
              offers = next.offers
              return next.settings
            })
          const experience = yield* experiences.change(tenant, id, by, revise, accessCode)
          if (offers !== undefined) yield* products.replace(tenant, id, offers)
          return experience
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, change, ...(yield* makeReads) }
    })
  )
}

/** Makes the function that creates a product of an experience. It returns its id. */
const makeCreateProduct = Effect.map(
  Products,
  (catalogue) => (tenant: Tenant, by: string) => (draft: ProductDraft, index: number) =>
    catalogue.create(tenant, by, draft).pipe(
      Effect.map(({ id }) => id),
      Effect.mapError((error) =>
        error._tag === "UnknownReferences" ? unknownWithin(["newProducts", index], error) : error
      )
    )
)

const makeReads = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const experiences = yield* Experiences
  const products = yield* ExperienceProducts

  /** Returns the experience with those sequences `s` and mechanisms `m` below it that meet the conditions. */
  const withFiltered = Effect.fnUntraced(function* (
    tenant: Tenant,
    experience: Experience,
    filter: { readonly sequences: Fragment; readonly mechanisms: Fragment }
  ) {
    const { id } = experience
    const below = yield* sql<SequenceRow>`
      select s.* from sequences s
      where s.experience_id = ${id} and ${ofTenant(sql, tenant, "s")}
        and ${filter.sequences}
      order by (s.record -> 'priority')::bigint desc, s.created_at, s.id limit ${recordSequencesMax}`
    const mechanisms = yield* sql<MechanismRow>`
      select m.* from mechanisms m
      where m.experience_id = ${id} and ${ofTenant(sql, tenant, "m")}
        and ${filter.mechanisms}
      order by m.created_at, m.id limit ${recordMechanismsMax}`
    const bySequence = Map.groupBy(mechanisms.map(toStored), ({ identity }) => identity.sequenceId)
    return {
      experience,
      products: yield* products.shown(id),
      sequences: below.map((row) => ({ sequence: toSequence(row), mechanisms: bySequence.get(row.id) ?? [] }))
    }
  })

  const find = Effect.fn("ExperienceAggregates.find")(function* (tenant: Tenant, id: string) {
    const experience = yield* experiences.find(tenant, id)
    return yield* withFiltered(tenant, experience, { sequences: sql`not s.archived`, mechanisms: sql`not m.archived` })
  }, orUnavailable)

  const archived = Effect.fn("ExperienceAggregates.archived")(function* (
    tenant: Tenant,
    experience: Experience,
    { sequences }: ExperienceAggregate
  ) {
    const sequenceIds = sequences.map(({ sequence }) => sequence.id)
    const mechanismIds = sequences.flatMap(({ mechanisms }) => mechanisms.map(({ identity }) => identity.id))
    return yield* withFiltered(tenant, experience, {
      sequences: sql`s.id = any(${sequenceIds}::uuid[])`,
      mechanisms: sql`m.id = any(${mechanismIds}::uuid[])`
    })
  }, orUnavailable)

  const sequenceIds = Effect.fn("ExperienceAggregates.sequenceIds")(function* (tenant: Tenant, id: string) {
    const rows = yield* sql<{ readonly id: string }>`
      select id from sequences
      where experience_id = ${id} and ${unarchivedOf(sql, tenant)}`
    return rows.map((row) => row.id)
  }, orUnavailable)

  return { find, archived, sequenceIds }
})
