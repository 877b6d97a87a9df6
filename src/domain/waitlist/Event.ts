/**
 * The events of a waitlist. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union. Keys with their default value are left out.
 */
import { Schema } from "effect"
import { by, reason } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Timestamp } from "../values/Time.ts"
import { Configuration } from "./Configuration.ts"
import { Channel } from "./Protocol.ts"

const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  Entered: { at, consumerId, risk },
  Left: { at, consumerId, by },
  /** The waitlist ended before the member could be notified. */
  Denied: { at, consumerId },
  /** When the sequence opens, and so when the members are to be notified; absent: not known. */
  NoticeScheduled: { at, noticeAt: Schema.optionalKey(Timestamp) },
  /** The sequence has opened. */
  NoticeDue: { at },
  /** The member was notified that the sequence is open; `channel` is absent if no message could be delivered to it. */
  Notified: { at, consumerId, channel: Schema.optionalKey(Channel) },
  ...lifecycleEvents
})
export type Event = typeof Event.Type
