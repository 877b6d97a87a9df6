/** A mechanism's record as the Admin API shows it, made from what is stored. */
import type { Schema } from "effect"
import type { StatusFields } from "../../../domain/mechanism/Decider.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import { withNulls } from "../records/Settings.ts"

/** The record of a mechanism, made from its stored row, its configuration and its status. */
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
  ...withNulls({ supportsGuest: true, riskWeight: 0, ...configuration }, settings),
  ...Object.fromEntries(published.map((name) => [name, stored[name] ?? null])),
  ...status,
  createdAt,
  createdBy,
  updatedAt,
  updatedBy
})
