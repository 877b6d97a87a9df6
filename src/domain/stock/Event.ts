/** The events of a stock. Every event ever stored must stay decodable. */
import { Schema } from "effect"
import { transferFields } from "../mechanism/Allocation.ts"
import { reason } from "../mechanism/Author.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Configuration } from "./Configuration.ts"
import { AdjustmentReason, Level } from "./Protocol.ts"

const distributionId = Schema.String
const orderId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  /** Units were added, or taken away if negative. */
  Adjusted: { at, units: Schema.Int, reason: AdjustmentReason, by: Schema.String },
  /** Units left for a mechanism. */
  UnitsLeft: { at, distributionId, ...transferFields },
  /** The mechanism has taken the units that left. */
  UnitsTaken: { at, distributionId, transfer: Schema.Int },
  /** The mechanism is gone and never took the units that left: they are free again. */
  UnitsRecalled: { at, distributionId, transfer: Schema.Int },
  /** Units came from a mechanism. */
  UnitsCame: { at, distributionId, ...transferFields },
  /** So many units are sold in the mechanism since its beginning. */
  SalesNoted: { at, distributionId, sold: Schema.Int },
  /** An order took free units. */
  OrderCounted: { at, orderId, units: Schema.Int },
  /** The units of a cancelled order are free again. */
  OrderCancelled: { at, orderId, units: Schema.Int },
  /** The units that are not sold crossed a threshold. The first one says how the stock began. */
  LevelChanged: { at, level: Level },
  ...lifecycleEvents
})
export type Event = typeof Event.Type
