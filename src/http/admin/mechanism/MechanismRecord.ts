/**
 * A mechanism's record as the Admin API shows it: identity, what was set, status, and who touched it (interface
 * document 2.8; completions 4). The same for every kind.
 */
import { Schema } from "effect"
import { stampFields } from "../../../domain/experience/Experience.ts"
import type { StatusFields } from "../../../domain/mechanism/Decider.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { TimeZone } from "../../../domain/values/Locale.ts"
import { Name } from "../../../domain/values/Text.ts"
import { Timestamp } from "../../../domain/values/Time.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import { recordFields, withNulls } from "../records/Payloads.ts"

const identityFields = { id: Id, organizationId: Id, experienceId: Id, sequenceId: Id }

/** What the record says of where the mechanism stands. */
export const statusFields = {
  statusOverride: Schema.NullOr(Schema.Literal("ended")),
  statusOverrideAt: Schema.NullOr(Timestamp),
  statusOverrideBy: Schema.NullOr(Schema.String),
  teardownStatus: Schema.NullOr(Schema.Literals(["pending", "completed"]))
}

/**
 * What can be set on a mechanism, as a request may say it: stricter about text than the configuration, which must read
 * whatever was ever stored, and without the window of its experience, which is not set here.
 */
export const settingsOf = <F extends Schema.Struct.Fields>({ experienceWindow: _, ...settings }: F) => ({
  ...settings,
  name: Name,
  timeZone: TimeZone
})

/** The fields of a mechanism's record. */
export const mechanismFields = <F extends Schema.Struct.Fields>(settings: F) => ({
  ...identityFields,
  ...recordFields(settings),
  ...statusFields,
  ...stampFields
})

/** The record of a mechanism, from what is stored of it and the configuration and status it has. */
export const mechanismRecord = (
  { identity, configuration: stored, createdAt, createdBy, updatedAt, updatedBy }: StoredMechanism,
  configuration: object,
  status: StatusFields,
  { settings, published = [] }: { readonly settings: Schema.Struct.Fields; readonly published?: ReadonlyArray<string> }
) => ({
  id: identity.id,
  organizationId: identity.organizationId,
  experienceId: identity.experienceId,
  sequenceId: identity.sequenceId,
  ...withNulls(configuration, settings),
  ...Object.fromEntries(published.map((name) => [name, stored[name] ?? null])),
  ...status,
  createdAt,
  createdBy,
  updatedAt,
  updatedBy
})
