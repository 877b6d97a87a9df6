/**
 * The events of a draw. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union. Keys with their default value are left out, because most stored events are entries and their ends.
 */
import { Schema } from "effect"
import { unitEvents } from "../mechanism/Allocation.ts"
import { by, reason } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { grantExtended } from "../mechanism/extension/Extension.ts"
import { grantEvents } from "../mechanism/GrantRecord.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Configuration } from "./Configuration.ts"
import { DenialReason } from "./Protocol.ts"

const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  /**
   * The draw's random values, from its creation on. `seed` (32 bytes in hex) stays secret until the drawing. `salt`
   * (16 bytes in hex), from which the entries' ids are made, stays secret for ever.
   */
  SeedDrawn: { at, seed: Schema.String, salt: Schema.String },
  Entered: {
    at,
    consumerId,
    /** 0 to 1, in steps of a millionth; absent: 0. */
    loyaltyScore: Schema.optionalKey(Schema.Finite),
    risk
  },
  /** The consumer withdrew before a win. */
  Left: { at, consumerId, by },
  /** The digest of the list of entries at the closing, and the round of the beacon that the drawing waits for. */
  EntriesFixed: { at, entriesDigest: Schema.String, beaconRound: Schema.optionalKey(Schema.Int) },
  /** The awaited round, in hex. `isSimulated`: a test clock made it, and no network has signed it. */
  BeaconProvided: {
    at,
    round: Schema.Int,
    randomness: Schema.String,
    signature: Schema.String,
    isSimulated: Schema.optionalKey(Schema.Literal(true))
  },
  /** The consumer was next in the drawn order. */
  Won: { at, consumerId },
  /** The drawing is complete: as many have won as could, or no entry is left. */
  Drawn: { at },
  ...grantEvents(DenialReason),
  ...unitEvents,
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
