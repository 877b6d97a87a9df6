/**
 * The events of a timed release. Every event ever stored must stay decodable: a shape that is no longer written stays
 * in the union. Keys with their default value are left out.
 */
import { Schema } from "effect"
import { unitEvents } from "../mechanism/Allocation.ts"
import { by, reason } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { grantExtended } from "../mechanism/extension/Extension.ts"
import { endedGrant, grantEvents } from "../mechanism/GrantRecord.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Configuration } from "./Configuration.ts"
import { DenialReason } from "./Protocol.ts"

const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  /** The consumer entered and has a grant; without `variantId` it has not selected a variant yet. */
  Entered: { at, consumerId, variantId: Schema.optionalKey(Schema.String), risk },
  /** The consumer selected another variant; its grant does not change. */
  Selected: { at, consumerId, variantId: Schema.String },
  ...grantEvents(DenialReason),
  Left: { at, consumerId, by, grant: endedGrant },
  ...unitEvents,
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
