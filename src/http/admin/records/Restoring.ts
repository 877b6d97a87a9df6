/**
 * Archived records on the Admin API: how lists are asked for them, and what restoring one answers (completions 4).
 */
import { Effect, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import type { ParentArchived, ReferenceArchived } from "../../../store/records/Restoring.ts"
import { Conflict } from "../../errors/Errors.ts"

/** The query parameter of lists whose records can be archived. */
export const archivedQuery = { archived: Schema.optionalKey(Schema.Boolean) }

/** What the description says of an operation that restores. */
export const restores = (record: {
  readonly aNoun: string
  readonly description?: string
  readonly identifier?: string
}) =>
  OpenApi.annotations({
    ...(record.identifier !== undefined && { identifier: record.identifier }),
    summary: `Restore ${record.aNoun}`,
    description: [
      "Takes the record out of the archive and answers it. One that is not archived is answered as it is.",
      ...(record.description === undefined ? [] : [record.description])
    ].join(" ")
  })

/** Turns what is archived above a record, or beside it, into a 409. */
export const orArchived = <A, E, R>(
  effect: Effect.Effect<A, E | ParentArchived | ReferenceArchived, R>
): Effect.Effect<A, Exclude<E, ParentArchived | ReferenceArchived> | Conflict, R> =>
  Effect.catchTags(effect as Effect.Effect<A, ParentArchived | ReferenceArchived, R>, {
    ParentArchived: ({ record }) => Effect.fail(conflict(record, "PARENT_ARCHIVED")),
    ReferenceArchived: ({ record }) => Effect.fail(conflict(record, "REFERENCE_ARCHIVED"))
  }) as Effect.Effect<A, Exclude<E, ParentArchived | ReferenceArchived> | Conflict, R>

const conflict = (record: string, code: string) =>
  new Conflict({ error: `${record} is archived. Restore it first`, code })
