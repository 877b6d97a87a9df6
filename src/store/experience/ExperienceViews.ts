/**
 * Experiences as consumers see them: with the sequences that the consumer can enter, and their mechanisms. One
 * statement reads a view, so it is consistent. If sequences name DYNAMIC audiences, a statement before it determines
 * which of these the consumer belongs to.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { StatusFields } from "../../domain/mechanism/Decider.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { Experience } from "../../domain/experience/Experience.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { themeOf } from "../../domain/organization/Organization.ts"
import type { Sequence } from "../../domain/experience/Sequence.ts"
import type { Millis } from "../../domain/values/Time.ts"
import * as Experiences from "./Experiences.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { type DynamicAudience, fitting, isBarred, isFor, isProtected } from "./SequenceAccess.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

/** The maximum of sequences in a view. Those of highest priority are shown. */
const shownSequencesMax = 200

/** The maximum of mechanisms in a view. */
const shownMechanismsMax = 1_000

/** A mechanism as its record was last committed. */
export interface ShownMechanism {
  readonly id: string
  readonly kind: Kind
  readonly sequenceId: string
  /** As it was sent, not decoded. */
  readonly configuration: { readonly [name: string]: unknown }
  readonly status: Omit<StatusFields, "archived">
}

export interface ShownSequence extends Pick<Sequence, "id" | "audienceId" | "name" | "priority"> {
  readonly productSelectionMode?: NonNullable<Sequence["productSelectionMode"]>
  /** Sorted by creation. */
  readonly mechanisms: ReadonlyArray<ShownMechanism>
}

export interface ExperienceView {
  /** The experience's theme, completed with its organization's theme. */
  readonly experience: Experience
  /** True if the experience or a sequence, shown or not, is closed to some consumers. */
  readonly hasProtectedSequences: boolean
  /** True if the consumer cannot enter, because it has not sent the experience's access code. */
  readonly isBarred: boolean
  /** The time of the consumer's entry. Undefined if it has not entered, or no consumer is named. */
  readonly enteredAt: Millis | undefined
  /** Sorted by priority, the highest first. */
  readonly sequences: ReadonlyArray<ShownSequence>
}

export class ExperienceViews extends Context.Service<
  ExperienceViews,
  {
    /** Returns the experience as the consumer sees it. Without a consumer, as every consumer sees it. */
    find(
      tenant: Tenant,
      experienceId: string,
      consumerId?: string
    ): Effect.Effect<ExperienceView, RecordNotFound | Unavailable>
    /** Returns the tenant of an experience that is not archived, for callers without a credential. */
    tenantOf(experienceId: string): Effect.Effect<Tenant, RecordNotFound | Unavailable>
    /** Returns the tenant and the experience of a queue that is not archived. */
    experienceOfQueue(
      queueId: string
    ): Effect.Effect<Tenant & { readonly experienceId: string }, RecordNotFound | Unavailable>
  }
>()("usher/store/experience/ExperienceViews") {
  static readonly layer = onDatabase(ExperienceViews, (sql) => {
    const find = Effect.fn("ExperienceViews.find")(function* (
      tenant: Tenant,
      experienceId: string,
      consumerId?: string
    ) {
      const rows = yield* view(sql, tenant, experienceId, consumerId, [])
      const row = rows[0]
      if (row === undefined) return yield* new RecordNotFound({ record: "Experience" })
      if (consumerId === undefined || row.dynamic_audiences === null) return toView(row)
      const belonging = yield* fitting(sql, consumerId, row.dynamic_audiences)
      if (belonging.length === 0) return toView(row)
      const [whole] = yield* view(sql, tenant, experienceId, consumerId, belonging)
      return whole === undefined ? yield* new RecordNotFound({ record: "Experience" }) : toView(whole)
    }, orUnavailable)

    const tenantOf = Effect.fn("ExperienceViews.tenantOf")(function* (experienceId: string) {
      const rows = yield* sql<Tenant>`
        select e.organization_id as "organizationId", e.mode from experiences e
        where e.id = ${experienceId} and not e.archived`
      return rows[0] ?? (yield* new RecordNotFound({ record: "Experience" }))
    }, orUnavailable)

    const experienceOfQueue = Effect.fn("ExperienceViews.experienceOfQueue")(function* (queueId: string) {
      const rows = yield* sql<Tenant & { readonly experienceId: string }>`
        select m.organization_id as "organizationId", m.mode, m.experience_id as "experienceId" from mechanisms m
        where m.id = ${queueId} and m.kind = 'queue' and not m.archived`
      return rows[0] ?? (yield* new RecordNotFound({ record: "Queue" }))
    }, orUnavailable)

    return { find, tenantOf, experienceOfQueue }
  })
}

/** Returns the view of a consumer that belongs to the named DYNAMIC audiences. */
const view = (
  sql: SqlClient.SqlClient,
  tenant: Tenant,
  experienceId: string,
  consumerId: string | undefined,
  dynamicAudienceIds: ReadonlyArray<string>
) => {
  const entry =
    consumerId === undefined
      ? sql`null::timestamptz`
      : sql`(select entered_at from experience_entries where experience_id = e.id and consumer_id = ${consumerId})`
  const dynamicAudiences =
    consumerId === undefined
      ? sql`null::json`
      : sql`(select json_agg(d) from (
          select distinct on (a.id) a.id, a.rules from sequences s join audiences a on a.id = s.audience_id
          where s.experience_id = e.id and not s.archived and a.type = 'DYNAMIC' limit ${shownSequencesMax}
        ) d)`
  return sql<Row>`
    with shown as materialized (
      select s.id, s.audience_id, s.name, s.record, s.created_at, (s.record -> 'priority')::bigint as priority
      from sequences s
      where s.experience_id = ${experienceId} and ${unarchivedOf(sql, tenant, "s")}
        and ${isFor(sql, consumerId, dynamicAudienceIds)}
      order by priority desc, s.created_at, s.id limit ${shownSequencesMax}
    ), held as (
      select m.* from mechanisms m join shown on shown.id = m.sequence_id
      where not m.archived order by m.created_at, m.id limit ${shownMechanismsMax}
    )
    select e.*, w.open_at, w.close_at, ${entry} as entered_at, ${dynamicAudiences} as dynamic_audiences,
      (select settings -> 'theme' from organizations where id = e.organization_id) as organization_theme,
      ${isBarred(sql, consumerId)} as is_barred,
      e.access_code_hash is not null or exists (
        select from sequences s where s.experience_id = e.id and not s.archived and ${isProtected(sql)}
      ) as has_protected_sequences,
      (select json_agg(
        json_build_object('id', id, 'audienceId', audience_id, 'name', name, 'record', record)
        order by priority desc, created_at, id
      ) from shown) as sequences,
      (select json_agg(json_build_object(
        'id', id, 'kind', kind, 'sequenceId', sequence_id, 'configuration', configuration, 'status',
        json_build_object(
          'statusOverride', status_override,
          'statusOverrideAt', (extract(epoch from status_override_at) * 1000)::bigint,
          'statusOverrideBy', status_override_by,
          'teardownStatus', teardown_status
        )
      ) order by created_at, id) from held) as mechanisms
    from experiences e ${Experiences.withWindow(sql)}
    where e.id = ${experienceId} and ${unarchivedOf(sql, tenant, "e")}`
}

interface Row extends Experiences.Row {
  readonly organization_theme: Experience["theme"]
  readonly dynamic_audiences: ReadonlyArray<DynamicAudience> | null
  readonly entered_at: Date | null
  readonly is_barred: boolean
  readonly has_protected_sequences: boolean
  readonly sequences: ReadonlyArray<
    Pick<Sequence, "id" | "audienceId" | "name"> & {
      readonly record: Pick<ShownSequence, "priority" | "productSelectionMode">
    }
  > | null
  readonly mechanisms: ReadonlyArray<ShownMechanism> | null
}

const toView = (row: Row): ExperienceView => {
  const bySequence = Map.groupBy(row.mechanisms ?? [], ({ sequenceId }) => sequenceId)
  const experience = Experiences.toExperience(row)
  return {
    experience: { ...experience, theme: themeOf(experience.theme, row.organization_theme) },
    hasProtectedSequences: row.has_protected_sequences,
    isBarred: row.is_barred,
    enteredAt: row.entered_at?.getTime(),
    sequences: (row.sequences ?? []).map(({ record, ...sequence }) => ({
      ...sequence,
      ...record,
      mechanisms: bySequence.get(sequence.id) ?? []
    }))
  }
}
