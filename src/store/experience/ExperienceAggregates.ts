/**
 * Experiences with everything below them: made in one transaction, all or nothing, and read as one record.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Experience, Settings } from "../../domain/experience/Experience.ts"
import type { ExperienceProduct, Offer } from "../../domain/experience/ExperienceProduct.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { ExperienceProducts, type KnownProducts, type NamedProducts } from "./ExperienceProducts.ts"
import { Experiences } from "./Experiences.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Row as MechanismRow, toStored } from "../mechanism/Mechanisms.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Row as SequenceRow, Sequences, toSequence } from "./Sequences.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type NewSequence, recordMechanismsMax, type SequenceAggregate } from "./SequenceAggregates.ts"

/** Sequences of an experience that its record shows, those of highest priority. */
export const recordSequencesMax = 200

/** What someone names who makes or changes an experience. */
export interface NamedRecords extends NamedProducts {
  readonly audienceIds: ReadonlyArray<string>
}

/** What of it the tenant has. */
export interface KnownRecords extends KnownProducts {
  readonly audiences: ReadonlySet<string>
}

/** An experience that is to come into being; an access code that is null is none. */
export interface NewExperience {
  readonly settings: Settings
  readonly accessCode: string | null
  readonly offers: ReadonlyArray<Offer>
  readonly sequences: ReadonlyArray<NewSequence>
}

/** What was made, by id; the sequences in the order they were named. */
export interface Made {
  readonly experienceId: string
  readonly sequenceIds: ReadonlyArray<string>
}

/** What an experience is changed to; without offers these stay. */
export interface Change {
  readonly settings: Settings
  readonly offers: ReadonlyArray<Offer> | undefined
}

/** An experience with everything below it that is not archived; if it is archived itself, with what was archived with it. */
export interface ExperienceAggregate {
  readonly experience: Experience
  readonly products: ReadonlyArray<ExperienceProduct>
  /** Higher priority first; the mechanisms of each in the order they were created. */
  readonly sequences: ReadonlyArray<SequenceAggregate>
}

export class ExperienceAggregates extends Context.Service<
  ExperienceAggregates,
  {
    /**
     * Makes what `judge` decides on, given what there is of what was named, with its products and sequences; `below` makes
     * the rest. All or nothing; what is named stays until then.
     */
    create<New extends NewExperience, E, E2, R>(
      tenant: Tenant,
      by: string,
      named: NamedRecords,
      judge: (known: KnownRecords) => Result.Result<New, E>,
      below: (whole: New, made: Made) => Effect.Effect<unknown, E2, R>
    ): Effect.Effect<Made, E | E2 | RecordNotFound | Unavailable, R>
    /** Changes an experience, and what it offers, to what `judge` decides on. Of access codes as `Experiences.change`. */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      named: NamedProducts,
      judge: (settings: Settings, known: KnownProducts) => Result.Result<Change, E>,
      accessCode?: string | null
    ): Effect.Effect<Experience, E | RecordNotFound | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<ExperienceAggregate, RecordNotFound | Unavailable>
    /** An experience that has just been archived, with what was below it `before`, as that is now. */
    archived(
      tenant: Tenant,
      experience: Experience,
      before: ExperienceAggregate
    ): Effect.Effect<ExperienceAggregate, Unavailable>
    /** The experience's sequences that are not archived. */
    sequenceIds(tenant: Tenant, id: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
  }
>()("usher/store/experience/ExperienceAggregates") {
  static readonly layer = Layer.effect(
    ExperienceAggregates,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const experiences = yield* Experiences
      const sequences = yield* Sequences
      const products = yield* ExperienceProducts

      const heldAudiences = Effect.fnUntraced(function* ({ organizationId, mode }: Tenant, ids: ReadonlyArray<string>) {
        if (ids.length === 0) return new Set<string>()
        const rows = yield* sql<{ readonly id: string }>`
          select id from audiences
          where id = any(${ids}::uuid[]) and organization_id = ${organizationId} and mode = ${mode} and not archived
          order by id for share`
        return new Set(rows.map(({ id }) => id))
      })

      const create = Effect.fn("WholeExperiences.create")(
        function* <New extends NewExperience, E, E2, R>(
          tenant: Tenant,
          by: string,
          named: NamedRecords,
          judge: (known: KnownRecords) => Result.Result<New, E>,
          below: (whole: New, made: Made) => Effect.Effect<unknown, E2, R>
        ) {
          const audiences = yield* heldAudiences(tenant, named.audienceIds)
          const whole = yield* Effect.fromResult(judge({ ...(yield* products.held(tenant, named)), audiences }))
          const { id: experienceId } = yield* experiences.create(tenant, by, whole.settings, whole.accessCode)
          yield* products.replace(tenant, experienceId, whole.offers)
          const sequenceIds = yield* Effect.forEach(whole.sequences, ({ settings, accessCode }) =>
            Effect.map(sequences.create(tenant, by, experienceId, settings, accessCode), ({ id }) => id)
          )
          const made = { experienceId, sequenceIds }
          yield* below(whole, made)
          return made
        },
        sql.withTransaction,
        orUnavailable
      )

      const change = Effect.fn("WholeExperiences.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          named: NamedProducts,
          judge: (settings: Settings, known: KnownProducts) => Result.Result<Change, E>,
          accessCode?: string | null
        ) {
          const known = yield* products.held(tenant, named)
          let offers: ReadonlyArray<Offer> | undefined
          const revise = (before: Settings) =>
            Result.map(judge(before, known), (next) => {
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

      /** The experience with those sequences `s` and mechanisms `m` below it that fit. */
      const withThose = Effect.fnUntraced(function* (
        { organizationId, mode }: Tenant,
        experience: Experience,
        those: { readonly sequences: Fragment; readonly mechanisms: Fragment }
      ) {
        const { id } = experience
        const below = yield* sql<SequenceRow>`
          select s.* from sequences s
          where s.experience_id = ${id} and s.organization_id = ${organizationId} and s.mode = ${mode}
            and ${those.sequences}
          order by (s.record -> 'priority')::bigint desc, s.created_at, s.id limit ${recordSequencesMax}`
        const mechanisms = yield* sql<MechanismRow>`
          select m.* from mechanisms m
          where m.experience_id = ${id} and m.organization_id = ${organizationId} and m.mode = ${mode}
            and ${those.mechanisms}
          order by m.created_at, m.id limit ${recordMechanismsMax}`
        const bySequence = Map.groupBy(mechanisms.map(toStored), ({ identity }) => identity.sequenceId)
        return {
          experience,
          products: yield* products.shown(id),
          sequences: below.map((row) => ({ sequence: toSequence(row), mechanisms: bySequence.get(row.id) ?? [] }))
        }
      })

      const find = Effect.fn("WholeExperiences.find")(function* (tenant: Tenant, id: string) {
        const experience = yield* experiences.find(tenant, id)
        return yield* withThose(tenant, experience, { sequences: sql`not s.archived`, mechanisms: sql`not m.archived` })
      }, orUnavailable)

      const archived = Effect.fn("WholeExperiences.archived")(function* (
        tenant: Tenant,
        experience: Experience,
        { sequences }: ExperienceAggregate
      ) {
        const sequenceIds = sequences.map(({ sequence }) => sequence.id)
        const mechanismIds = sequences.flatMap(({ mechanisms }) => mechanisms.map(({ identity }) => identity.id))
        return yield* withThose(tenant, experience, {
          sequences: sql`s.id = any(${sequenceIds}::uuid[])`,
          mechanisms: sql`m.id = any(${mechanismIds}::uuid[])`
        })
      }, orUnavailable)

      const sequenceIds = Effect.fn("WholeExperiences.sequenceIds")(function* (
        { organizationId, mode }: Tenant,
        id: string
      ) {
        const rows = yield* sql<{ readonly id: string }>`
          select id from sequences
          where experience_id = ${id} and organization_id = ${organizationId} and mode = ${mode} and not archived`
        return rows.map((row) => row.id)
      }, orUnavailable)

      return { create, change, find, archived, sequenceIds }
    })
  )
}
