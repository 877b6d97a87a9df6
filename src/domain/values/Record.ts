/** What the records of all kinds have in common in responses. */
import { Schema } from "effect"
import { Id } from "./Ids.ts"
import { Timestamp } from "./Time.ts"

/** The creator and last editor of a record, with their times, and whether it is archived. */
export const stampFields = {
  createdAt: Timestamp,
  createdBy: Schema.String,
  updatedAt: Timestamp,
  updatedBy: Schema.String,
  archived: Schema.Boolean
}

/** The schema of a kind of record in responses: its own fields between those that every kind has. */
export const recordSchema = <const Fields extends Schema.Struct.Fields>(identifier: string, fields: Fields) =>
  Schema.Struct({ id: Id, organizationId: Id, ...fields, ...stampFields }).annotate({ identifier })
