/**
 * The sequences. Each belongs to an experience. Every process that caches access rules is notified of each
 * change.
 */
import { Context, Effect, Layer } from "effect"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type Sequence, Settings, sequenceSorts } from "../../domain/experience/Sequence.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each, parent, reference } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, make, type Readable, type Revisable } from "../records/Records.ts"
import type { ParentArchived, ReferenceArchived } from "../records/Restoring.ts"
import { identityAndStamps, type RecordRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { holdParent, holdReference } from "../records/Statements.ts"
import { createInSequence, type Parents, type WaitlistExists } from "./CreateInSequence.ts"
import { type HasMechanisms, findMechanisms } from "../mechanism/HasMechanisms.ts"
import { makeAccessCodeHash, tellProtection } from "./SequenceAccess.ts"

/** The filters of a list of sequences. */
export interface SequenceFilter {
  readonly experienceId?: string | undefined
}

/** The list of sequences. */
export const shape = listShape("sequences", "s", sequenceSorts, {
  createdAt: "timestamptz",
  name: "text",
  priority: { expression: "(s.record -> 'priority')::bigint", type: "bigint" }
})

type Sort = keyof typeof shape.sorts
type Wrong = ParentArchived | ReferenceArchived

/** A row of `sequences`. */
export interface Row extends RecordRow {
  readonly experience_id: string
  readonly name: string
  readonly record: object
  readonly audience_id: string | null
  readonly access_code_hash: Uint8Array | null
}

const { columnsOf, settingsOf, shownOf } = makeSettingsColumns(Settings, { name: "name", audienceId: "audience_id" })

/** Returns the sequence of a row. */
export const toSequence = (row: Row): Sequence => {
  const settings = shownOf(row)
  return {
    ...identityAndStamps(row),
    experienceId: row.experience_id,
    ...settings,
    sequenceProducts: settings.sequenceProducts ?? [],
    hasAccessCode: row.access_code_hash !== null
  }
}

const experience = parent({ table: "experiences", record: "Experience", column: "experience_id", lock: "share" })
const audience = reference({ table: "audiences", record: "Audience", column: "audience_id" })

const declaration: Declaration<Row, Sequence, Sort, HasMechanisms, Wrong> = {
  service: "Sequences",
  record: "Sequence",
  table: "sequences",
  alias: "s",
  recordsOf: each(toSequence),
  list: { shape, searched: "s.name", filters: { experienceId: "s.experience_id" } },
  parent: experience,
  references: [audience],
  written: (sql, id) => tellProtection(sql, sql`s.id = ${id}`),
  blockedBy: (sql, { id }) => findMechanisms(sql, sql`sequence_id = ${id}`)
}

/**
 * The sequences. A sequence with mechanisms cannot be archived. A change can replace the access code: null removes it.
 * A consumer who has sent an earlier code need not send the new one.
 */
export class Sequences extends Context.Service<
  Sequences,
  Readable<Sequence, Sort, SequenceFilter> &
    Revisable<Sequence, Settings, never, string | null> &
    Archivable<Sequence, HasMechanisms, Wrong> & {
      /** Creates a sequence of the experience. An absent or null access code means none. */
      create(
        tenant: Tenant,
        by: string,
        experienceId: string,
        settings: Settings,
        accessCode?: string | null
      ): Effect.Effect<Sequence, RecordNotFound | Unavailable>
      /**
       * Runs `create`, which creates a mechanism of this kind, in one transaction. Until it ends, the sequence and its
       * experience cannot be archived or changed. A second waitlist is refused, also under concurrent creation.
       */
      createIn<A, E, R>(
        tenant: Tenant,
        sequenceId: string,
        kind: Kind,
        create: (parents: Parents) => Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | RecordNotFound | WaitlistExists | Unavailable, R>
    }
>()("usher/store/experience/Sequences") {
  static readonly layer = Layer.effect(Sequences)(
    Effect.gen(function* () {
      const hashOf = yield* makeAccessCodeHash
      const { sql, statements, change, ...operations } = yield* make(declaration)

      const create = Effect.fn("Sequences.create")(
        function* (
          tenant: Tenant,
          by: string,
          experienceId: string,
          settings: Settings,
          accessCode: string | null = null
        ) {
          yield* holdParent(sql, tenant, experience, experienceId)
          yield* holdReference(sql, tenant, audience, settings.audienceId)
          const hash = accessCode === null ? null : hashOf(experienceId, accessCode)
          const row = yield* statements.insert(tenant, yield* stampOf(by), () => ({
            ...columnsOf(sql, settings),
            experience_id: experienceId,
            access_code_hash: hash
          }))
          return toSequence(row)
        },
        sql.withTransaction,
        orUnavailable
      )

      return {
        ...operations,
        create,
        change: (tenant, id, by, revise, accessCode) =>
          change(tenant, id, by, (row) =>
            Effect.gen(function* () {
              const settings = yield* Effect.fromResult(revise(settingsOf(row)))
              yield* holdReference(sql, tenant, audience, settings.audienceId)
              const hash = typeof accessCode === "string" ? hashOf(row.experience_id, accessCode) : null
              return { ...columnsOf(sql, settings), ...(accessCode !== undefined && { access_code_hash: hash }) }
            })
          ),
        createIn: createInSequence(sql)
      }
    })
  )
}
