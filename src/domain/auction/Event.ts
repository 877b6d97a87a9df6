/**
 * The events of an auction. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union.
 */
import { Schema } from "effect"
import { Price } from "../values/Amount.ts"
import { unitEvents } from "../mechanism/Allocation.ts"
import { by, reason } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { grantExtended } from "../mechanism/extension/Extension.ts"
import { grantEvents } from "../mechanism/GrantRecord.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Timestamp } from "../values/Time.ts"
import { Configuration } from "./Configuration.ts"
import { DenialReason } from "./Protocol.ts"

const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: {
    at,
    configuration: Configuration,
    by: Schema.String,
    reason,
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
  ...grantEvents(DenialReason),
  ...unitEvents,
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
