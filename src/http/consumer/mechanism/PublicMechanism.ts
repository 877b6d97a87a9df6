/**
 * The public view of a mechanism of any kind. It has the fields of the kind's schema. A setting without a field there,
 * such as a reserve, is never sent.
 */
import type { Schema } from "effect"
import { bounded } from "../../../domain/experience/ExperienceWindow.ts"
import { riskRule } from "../../../domain/risk/RiskWeight.ts"
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import type { Inspection } from "../../../engine/Engine.ts"

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
