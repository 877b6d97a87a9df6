/**
 * A mechanism's record as the Admin API shows it: identity, settings, status and authors. It is the same for every
 * kind.
 */
import { Schema } from "effect"
import { Id } from "../../domain/values/Ids.ts"
import { stampFields } from "../../domain/values/Record.ts"
import { TimeZone } from "../../domain/values/Locale.ts"
import { Name } from "../../domain/values/Text.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { recordFields } from "./Payloads.ts"

const identityFields = { id: Id, organizationId: Id, experienceId: Id, sequenceId: Id }

/** The status fields of the record. */
export const statusFields = {
  statusOverride: Schema.NullOr(Schema.Literal("ended")),
  statusOverrideAt: Schema.NullOr(Timestamp),
  statusOverrideBy: Schema.NullOr(Schema.String),
  teardownStatus: Schema.NullOr(Schema.Literals(["pending", "completed"]))
}

/**
 * The settings of a mechanism in a request. Text is checked more strictly than in the configuration, which must decode
 * everything ever stored. The window of the experience is left out, because a request does not set it.
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
