/**
 * The errors of restoring an archived record: its parent, or a record that it references, is archived too. Restoring
 * affects one record and no record below it. A record that is not archived does not change.
 */
import { Schema } from "effect"

/** The parent of this record is archived. Nothing has changed. 409 */
export class ParentArchived extends Schema.TaggedError<ParentArchived>()("ParentArchived", { record: Schema.String }) {}

/** A record that this one references is archived. Nothing has changed. 409 */
export class ReferenceArchived extends Schema.TaggedError<ReferenceArchived>()("ReferenceArchived", {
  record: Schema.String
}) {}
