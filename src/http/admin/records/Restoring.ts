/** Archived records on the Admin API: the parameter of their lists, and the answers to restoring one. */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import type { ParentArchived, ReferenceArchived } from "../../../store/records/Restoring.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict } from "../../errors/Errors.ts"

/** The query parameter of lists whose records can be archived. */
export const archivedQuery = { archived: Schema.optionalKey(Schema.Boolean) }

/** The texts of an operation that restores, in the description. */
export const restores = (record: {
  readonly aNoun: string
  readonly description?: string
  readonly identifier?: string
}) =>
  OpenApi.annotations({
    ...(record.identifier !== undefined && { identifier: record.identifier }),
    summary: `Restore ${record.aNoun}`,
    description: [
      "Restores the record and returns it. A record that is not archived is returned as it is.",
      ...(record.description === undefined ? [] : [record.description])
    ].join(" ")
  })

/** Turns an archived parent or an archived reference of a record into a 409. */
export const orArchived = answering({
  ParentArchived: ({ record }: ParentArchived) => conflict(record, "PARENT_ARCHIVED"),
  ReferenceArchived: ({ record }: ReferenceArchived) => conflict(record, "REFERENCE_ARCHIVED")
})

const conflict = (record: string, code: string) =>
  new Conflict({ error: `${record} is archived. Restore it first`, code })
