/**
 * What happens to a timed release. Every event ever stored must stay decodable: a shape that is no longer written stays
 * in the union. Keys that hold their default are left out.
 */
import { Schema } from "effect"
import { by } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { grantExtended } from "../mechanism/extension/Extension.ts"
import { endedGrant, redemptionId } from "../mechanism/GrantRecord.ts"
import { lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Configuration } from "./Configuration.ts"
import { DenialReason } from "./Protocol.ts"

/** Milliseconds since the epoch; never less than in the event before it. */
const at = Schema.Finite
const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String },
  /** The consumer entered and has a grant; without `variantId` it has not selected a variant yet. */
  Entered: { at, consumerId, variantId: Schema.optionalKey(Schema.String), risk },
  /** The consumer selected another variant; its grant does not change. */
  Selected: { at, consumerId, variantId: Schema.String },
  /** The grant was not used in time. */
  Expired: { at, consumerId },
  Denied: { at, consumerId, reason: DenialReason, by, grant: endedGrant },
  Completed: { at, consumerId, by, redemptionId, grant: endedGrant },
  Left: { at, consumerId, by, grant: endedGrant },
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
