/**
 * What happens to an auction. Every event ever stored must stay decodable: a shape that is no longer written stays in
 * the union.
 */
import { Schema } from "effect"
import { Price } from "../values/Amount.ts"
import { by } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { grantExtended } from "../mechanism/extension/Extension.ts"
import { endedGrant, redemptionId } from "../mechanism/GrantRecord.ts"
import { lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Timestamp } from "../values/Time.ts"
import { Configuration } from "./Configuration.ts"
import { DenialReason } from "./Protocol.ts"

/** Milliseconds since the epoch; never less than in the event before it. */
const at = Schema.Finite
const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: {
    at,
    configuration: Configuration,
    by: Schema.String,
    /** 16 bytes in hex, in the first event alone; the bidders' handles are derived from it. */
    handleSalt: Schema.optionalKey(Schema.String)
  },
  Entered: { at, consumerId, risk },
  /** In an english auction the bid leads from now on. In a dutch one, `amount` is the price. */
  BidPlaced: { at, consumerId, amount: Price },
  /** A higher bid replaced this one among the leading bids. */
  Outbid: { at, consumerId },
  /** The bid leads again, because a leader was denied. */
  Reinstated: { at, consumerId },
  /** A late bid, or `by`, moved the closing. The settlement moves with it if it would be earlier. */
  Extended: { at, closeAt: Timestamp, by },
  /** The last bid won a unit, and the consumer has a grant. */
  Won: { at, consumerId },
  Lost: { at, consumerId },
  /** The grant was not used in time. */
  Expired: { at, consumerId },
  Denied: { at, consumerId, reason: DenialReason, by, grant: endedGrant },
  Completed: { at, consumerId, by, redemptionId, grant: endedGrant },
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
