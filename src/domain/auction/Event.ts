/**
 * What happens to an auction. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union.
 */
import { Schema } from "effect"
import { Price } from "../values/Amount.ts"
import { by } from "../mechanism/Author.ts"
import { lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Timestamp } from "../values/Time.ts"
import { Configuration } from "./Configuration.ts"
import { DenialReason } from "./Protocol.ts"

/** Milliseconds since the epoch; never less than the event's before it. */
const at = Schema.Finite
const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: {
    at,
    configuration: Configuration,
    by: Schema.String,
    /** 16 bytes in hex, with the first alone: what makes the bidders' handles. */
    handleSalt: Schema.optionalKey(Schema.String)
  },
  Entered: { at, consumerId },
  /** In an english auction it leads from now on; in a dutch one `amount` is the price. */
  BidPlaced: { at, consumerId, amount: Price },
  /** A higher bid took the place among the leading ones. */
  Outbid: { at, consumerId },
  /** Leads again, because one that led was denied. */
  Reinstated: { at, consumerId },
  /** A late bid moved the closing; the settlement is moved with it if it was before. */
  Extended: { at, closeAt: Timestamp },
  /** Has a unit for the last bid, and a grant. */
  Won: { at, consumerId },
  Lost: { at, consumerId },
  /** The grant was not used in time. */
  Expired: { at, consumerId },
  Denied: { at, consumerId, reason: DenialReason, by },
  Completed: { at, consumerId, by },
  ...lifecycleEvents
})
export type Event = typeof Event.Type
