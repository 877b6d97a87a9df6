/**
 * What happens to a queue. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union. Keys that hold their default are left out, because most of what is stored are entries and grants.
 */
import { Schema } from "effect"
import { by, reason } from "../mechanism/Author.ts"
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
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  /** The lobby's places were put in a random order, drawn from `seed` (16 bytes in hex). */
  Opened: { at, seed: Schema.String },
  Entered: {
    at,
    consumerId,
    /** 0 to 1; absent: 0. */
    loyaltyScore: Schema.optionalKey(Schema.Finite),
    risk
  },
  /** The consumer was admitted; `by` is absent if by rate. */
  Granted: { at, consumerId, by, reason },
  /** The grant was not used in time. */
  Expired: { at, consumerId },
  Denied: { at, consumerId, reason: DenialReason, by, grant: endedGrant },
  Completed: { at, consumerId, by, redemptionId, grant: endedGrant },
  Left: { at, consumerId, by, grant: endedGrant },
  /** From now on no consumer is admitted by rate. */
  Paused: { at, by: Schema.String, reason },
  /** The rate admits again. */
  Resumed: { at, by: Schema.String, reason },
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
