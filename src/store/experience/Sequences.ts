/**
 * The sequences. Each is a row with its settings as one JSON value, below an experience. Whoever keeps in memory for whom
 * they are is told of each change.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Kind } from "../../domain/mechanism/Decider.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type Sequence, Settings } from "../../domain/experience/Sequence.ts"
import { belowSequence, type Parents, type WaitlistExists } from "./BelowSequence.ts"
import type { Archival } from "./Experiences.ts"
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
import { ParentArchived, ReferenceArchived } from "../records/Restoring.ts"
import { makeAccessCodeHash, tellProtection } from "./SequenceAccess.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"

/** What a list of sequences can be narrowed to. */
export interface SequenceFilter {
  readonly experienceId?: string | undefined
}

/** The list of sequences. */
export const shape = {
  name: "sequences",
  sorts: {
    createdAt: { expression: "s.created_at", type: "timestamptz" },
    name: { expression: "s.name", type: "text" },
    priority: { expression: "(s.record -> 'priority')::bigint", type: "bigint" }
  },
  id: { expression: "s.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "name" | "priority">

export class Sequences extends Context.Service<
  Sequences,
  {
    /** An access code that is absent or null is none. */
    create(
      tenant: Tenant,
      by: string,
      experienceId: string,
      settings: Settings,
      accessCode?: string | null
    ): Effect.Effect<Sequence, RecordNotFound | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Sequence, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: SequenceFilter
    ): Effect.Effect<Page<Sequence>, PageRefused | Unavailable>
    /**
     * Replaces the settings by what `revise` makes of them, unless it refuses; nobody else changes them meanwhile. An
     * access code that is absent stays, null takes it away; who has shown an earlier one need not show the new one.
     */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>,
      accessCode?: string | null
    ): Effect.Effect<Sequence, E | RecordNotFound | Unavailable>
    /** Archives the sequence, if none of its mechanisms is left. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<Archival<Sequence>, RecordNotFound | Unavailable>
    /** Takes the sequence out of the archive, and none of its mechanisms; its experience and its audience must not be archived. */
    restore(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<Sequence, ParentArchived | ReferenceArchived | RecordNotFound | Unavailable>
    /**
     * Runs `create`, which creates a mechanism of this kind, in one transaction, while neither the sequence nor its
     * experience can be archived or changed. A second waitlist is refused, whoever creates it at the same time.
     */
    below<A, E, R>(
      tenant: Tenant,
      sequenceId: string,
      kind: Kind,
      create: (parents: Parents) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | RecordNotFound | WaitlistExists | Unavailable, R>
  }
>()("usher/store/experience/Sequences") {
  static readonly layer = Layer.effect(
    Sequences,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const hashOf = yield* makeAccessCodeHash
      const heldAudience = makeHeldAudience(sql)

      const ofTenant = (tenant: Tenant) => sql`s.organization_id = ${tenant.organizationId} and s.mode = ${tenant.mode}`

      const byId = (tenant: Tenant, id: string) =>
        sql<Row>`select s.* from sequences s where s.id = ${id} and ${ofTenant(tenant)}`.pipe(
          Effect.map((rows) => rows[0])
        )

      /** Keeps the row to this transaction, and out of the hands of those who create something below it. */
      const locked = (tenant: Tenant, id: string) =>
        sql<Row>`
          select s.* from sequences s where s.id = ${id} and ${ofTenant(tenant)} and not s.archived for update`.pipe(
          Effect.flatMap(([row]) => (row === undefined ? notFound : Effect.succeed(row)))
        )

      const create = Effect.fn("Sequences.create")(
        function* (
          tenant: Tenant,
          by: string,
          experienceId: string,
          settings: Settings,
          accessCode: string | null = null
        ) {
          const parents = yield* sql`
            select id from experiences
            where id = ${experienceId} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode}
              and not archived
            for share`
          if (parents.length === 0) return yield* new RecordNotFound({ record: "Experience" })
          const id = yield* random.uuidV7()
          const now = new Date(yield* Clock.currentTimeMillis)
          const { name, audienceId = null, ...record } = encode(settings)
          yield* heldAudience(tenant, audienceId)
          const rows = yield* sql<Row>`
            insert into sequences
              (id, organization_id, mode, experience_id, name, record, audience_id, access_code_hash,
                created_at, created_by, updated_at, updated_by)
            values
              (${id}, ${tenant.organizationId}, ${tenant.mode}, ${experienceId}, ${name}, ${sql.json(record)},
                ${audienceId}, ${accessCode === null ? null : hashOf(experienceId, accessCode)},
                ${now}, ${by}, ${now}, ${by})
            returning *`
          yield* tellProtection(sql, sql`s.id = ${id}`)
          return toSequence(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const find = Effect.fn("Sequences.find")(function* (tenant: Tenant, id: string) {
        const row = yield* byId(tenant, id)
        return row === undefined || row.archived ? yield* notFound : toSequence(row)
      }, orUnavailable)

      const list = Effect.fn("Sequences.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>,
        { experienceId }: SequenceFilter
      ) {
        const planned = yield* plan(shape, query, { tenant, filter: { experienceId } })
        const within = experienceId === undefined ? sql`true` : sql`s.experience_id = ${experienceId}`
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`s.*`,
          from: sql`sequences s`,
          where: sql`${ofTenant(tenant)} and ${archivedAsAsked(sql, "s", query)} and ${within}`,
          sought: Search.textSought(sql, { tenant, row: "s", text: "s.name" }, query.search)
        })
        return page(planned, rows, toSequence)
      }, orUnavailable)

      const change = Effect.fn("Sequences.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          revise: (settings: Settings) => Result.Result<Settings, E>,
          accessCode?: string | null
        ) {
          const row = yield* locked(tenant, id)
          const { name, audienceId = null, ...record } = encode(yield* Effect.fromResult(revise(settingsOf(row))))
          yield* heldAudience(tenant, audienceId)
          const now = new Date(yield* Clock.currentTimeMillis)
          const hash = typeof accessCode === "string" ? hashOf(row.experience_id, accessCode) : null
          const rows = yield* sql<Row>`
            update sequences
            set name = ${name}, record = ${sql.json(record)}, audience_id = ${audienceId},
              access_code_hash = ${accessCode === undefined ? sql`access_code_hash` : sql`${hash}`},
              updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          yield* tellProtection(sql, sql`s.id = ${id}`)
          return toSequence(rows[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      const archive = Effect.fn("Sequences.archive")(
        function* (tenant: Tenant, id: string, by: string) {
          yield* locked(tenant, id)
          const mechanisms = yield* sql<MechanismName>`
            select id, kind from mechanisms where sequence_id = ${id} and not archived`
          if (mechanisms.length > 0) return { _tag: "Occupied" as const, mechanisms }
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            update sequences set archived = true, updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          yield* tellProtection(sql, sql`s.id = ${id}`)
          return { _tag: "Archived" as const, record: toSequence(rows[0]!) }
        },
        sql.withTransaction,
        orUnavailable
      )

      const restore = Effect.fn("Sequences.restore")(
        function* (tenant: Tenant, id: string, by: string) {
          // The experience first, as in archiving: two who lock in different orders wait for each other for ever.
          const parents = yield* sql<{ readonly archived: boolean }>`
            select e.archived from experiences e
            where e.id = (select s.experience_id from sequences s where s.id = ${id} and ${ofTenant(tenant)}) for share`
          const parent = parents[0]
          if (parent === undefined) return yield* notFound
          const rows = yield* sql<Row>`select s.* from sequences s where s.id = ${id} for update`
          const row = rows[0]!
          if (!row.archived) return toSequence(row)
          if (parent.archived) return yield* new ParentArchived({ record: "Experience" })
          yield* heldAudience(tenant, row.audience_id).pipe(
            Effect.catchTag("RecordNotFound", ({ record }) => Effect.fail(new ReferenceArchived({ record })))
          )
          const now = new Date(yield* Clock.currentTimeMillis)
          const restored = yield* sql<Row>`
            update sequences set archived = false, updated_at = ${now}, updated_by = ${by}
            where id = ${id} returning *`
          yield* tellProtection(sql, sql`s.id = ${id}`)
          return toSequence(restored[0]!)
        },
        sql.withTransaction,
        orUnavailable
      )

      return { create, find, list, change, archive, restore, below: belowSequence(sql) }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Sequence" }))

/** A row of `sequences`. */
export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly experience_id: string
  readonly name: string
  readonly record: unknown
  readonly audience_id: string | null
  readonly access_code_hash: Uint8Array | null
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

const encode = Schema.encodeSync(Settings)
const decode = Schema.decodeUnknownSync(Settings)

const settingsOf = ({ name, record, audience_id }: Row): Settings =>
  decode({ ...(record as object), name, ...(audience_id !== null && { audienceId: audience_id }) })

/** The sequence of a row. */
export const toSequence = (row: Row): Sequence => {
  const settings = settingsOf(row)
  return {
    id: row.id,
    organizationId: row.organization_id,
    experienceId: row.experience_id,
    name: settings.name,
    priority: settings.priority,
    productSelectionMode: settings.productSelectionMode ?? null,
    sequenceProducts: settings.sequenceProducts ?? [],
    audienceId: settings.audienceId ?? null,
    orderLimitPerConsumer: settings.orderLimitPerConsumer ?? null,
    hasAccessCode: row.access_code_hash !== null,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by,
    updatedAt: row.updated_at.getTime(),
    updatedBy: row.updated_by,
    archived: row.archived
  }
}

/** Keeps the audience, if one is named, from being archived until the transaction ends. */
const makeHeldAudience = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (tenant: Tenant, audienceId: string | null) {
    if (audienceId === null) return
    const held = yield* sql`
    select id from audiences
    where id = ${audienceId} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode}
      and not archived
    for share`
    if (held.length === 0) return yield* new RecordNotFound({ record: "Audience" })
  })
