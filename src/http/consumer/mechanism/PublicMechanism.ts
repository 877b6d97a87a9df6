/**
 * The public view of a mechanism of any kind. It has the fields of the kind's schema. A setting without a field there,
 * such as a reserve, is never sent.
 */
import { Schema } from "effect"
import { bounded } from "../../../domain/experience/ExperienceWindow.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { riskRule } from "../../../domain/risk/RiskWeight.ts"
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
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

/** The fields of a kind's public view, given its own fields. These may replace a common field. */
export const publicFields = <F extends Schema.Struct.Fields>(own: F) => ({ ...commonFields, ...own, ...statusFields })

/** All known fields of a mechanism, by name. */
export type PublicFields = { readonly [name: string]: unknown }

/** The known fields that the schema names; null for a field that is not known. Older mechanisms support guests. */
export const shown = <F extends Schema.Struct.Fields>(
  { fields }: Schema.Struct<F>,
  known: PublicFields
): Schema.Struct<F>["Type"] =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, known[name] ?? absent(name)])) as Schema.Struct<F>["Type"]

const absent = (name: string): true | null => (name === "supportsGuest" ? true : null)

/**
 * The public view of a mechanism, with the times bounded by the experience. `more` holds the facts that the kind
 * publishes.
 */
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
    ...riskRule(identity.kind, "riskWeight" in configuration ? configuration.riskWeight : undefined),
    ...more,
    ...status,
    lifecycle
  })
