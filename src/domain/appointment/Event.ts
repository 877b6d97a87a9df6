/**
 * The events of an appointment. Every event ever stored must stay decodable: a shape that is no longer written stays in
 * the union.
 */
import { Schema } from "effect"
import { by, reason } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Configuration } from "./Configuration.ts"

const consumerId = Schema.String

/** The slot. A booking keeps these times, even if the hours or a country's time zone change. */
const slot = { startTime: Schema.Finite, endTime: Schema.Finite }

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  /** A new booking, also for a consumer that has cancelled one. */
  Booked: { at, consumerId, ...slot, bookingId: Schema.String, confirmationCode: Schema.String, risk },
  /** The booking moved to another slot. */
  Rescheduled: { at, consumerId, ...slot, by },
  CheckedIn: { at, consumerId, by },
  /** The appointment took place. By time: at the end of the slot, if the consumer was checked in. */
  Completed: { at, consumerId, by },
  Cancelled: { at, consumerId, by },
  /** The consumer did not come. By time: at the end of the slot. */
  Missed: { at, consumerId, by },
  ...lifecycleEvents
})
export type Event = typeof Event.Type
