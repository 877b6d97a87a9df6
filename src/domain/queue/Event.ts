/**
 * The events of a queue. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union. Keys with their default value are left out, because most stored events are entries and grants.
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
  ...grantEvents(DenialReason),
  /** The grant was not used in time; or, where grants are renewed, its consumer was not seen. `grant` names it then. */
  Expired: { at, consumerId, grant: endedGrant },
  /** The consumer was seen, so its grant ends later. */
  Renewed: { at, consumerId, expiresAt: Schema.Finite },
  Left: { at, consumerId, by, grant: endedGrant },
  /** From now on no consumer is admitted by rate. */
  Paused: { at, by: Schema.String, reason },
  /** The rate admits again. */
  Resumed: { at, by: Schema.String, reason },
  ...unitEvents,
  /** While no unit is free here: the stock said whether units may still come. */
  SupplyNoted: { at, mayReturn: Schema.Boolean },
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
