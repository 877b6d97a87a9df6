/**
 * A mechanism as everybody is shown it, the same for every kind (interface document 2.8). What is shown is what the kind's
 * schema names: a setting that is not named there, such as a reserve, is never sent.
 */
import { Schema } from "effect"
import { bounded } from "../../../domain/experience/ExperienceWindow.ts"
import { Id } from "../../../domain/values/Ids.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import type { Inspection } from "../../../engine/Engine.ts"

const commonFields = {
  id: Id,
  experienceId: Id,
  sequenceId: Id,
  name: Schema.String,
  timeZone: Schema.String,
  openAt: Schema.NullOr(SentTimestamp),
  closeAt: Schema.NullOr(SentTimestamp)
}

const statusFields = {
  lifecycle: Schema.Literals(["scheduled", "open", "settling", "closed"]),
  statusOverride: Schema.NullOr(Schema.Literal("ended")),
  statusOverrideAt: Schema.NullOr(SentTimestamp),
  statusOverrideBy: Schema.NullOr(Schema.String),
  teardownStatus: Schema.NullOr(Schema.Literals(["pending", "completed"]))
}

/** The fields of a kind's public view, given its own ones; one of these may take the place of a common one. */
export const publicFields = <F extends Schema.Struct.Fields>(own: F) => ({ ...commonFields, ...own, ...statusFields })

/** Everything that may be known of a mechanism, by the names of the fields. */
export type PublicFields = { readonly [name: string]: unknown }

/** What the schema names of what is known; null where there is none. */
export const shown = <F extends Schema.Struct.Fields>(
  { fields }: Schema.Struct<F>,
  known: PublicFields
): Schema.Struct<F>["Type"] =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, known[name] ?? null])) as Schema.Struct<F>["Type"]

/** The public view of a mechanism as its actor holds it, with the times that hold; `more` is what the kind publishes beside its settings. */
export const publicView = <F extends Schema.Struct.Fields>(
  schema: Schema.Struct<F>,
  { identity, configuration, status, lifecycle }: Inspection<Kind>,
  more: object = {}
): Schema.Struct<F>["Type"] =>
  shown(schema, {
    id: identity.id,
    experienceId: identity.experienceId,
    sequenceId: identity.sequenceId,
    ...bounded(configuration),
    ...more,
    ...status,
    lifecycle
  })
