/**
 * The errors of restoring an archived record: its parent, or a record that it names, is archived too. Restoring brings back
 * one record and nothing below it. A record that is not archived stays as it is.
 */
import { Schema } from "effect"

/** The record below which this one stands is archived. Nothing has changed. 409 */
export class ParentArchived extends Schema.TaggedError<ParentArchived>()("ParentArchived", { record: Schema.String }) {}

/** A record that this one names is archived. Nothing has changed. 409 */
export class ReferenceArchived extends Schema.TaggedError<ReferenceArchived>()("ReferenceArchived", {
  record: Schema.String
}) {}
