/**
 * The events of a waitlist. Every event ever stored must stay decodable: a shape that is no longer written stays in the
 * union. Keys with their default value are left out.
 */
import { Schema } from "effect"
import { unitEvents } from "../mechanism/Allocation.ts"
import { by, reason } from "../mechanism/Author.ts"
import { risk } from "../mechanism/EntryRisk.ts"
import { grantExtended } from "../mechanism/extension/Extension.ts"
import { endedGrant, grantEvents } from "../mechanism/GrantRecord.ts"
import { at, lifecycleEvents } from "../mechanism/Lifecycle.ts"
import { Timestamp } from "../values/Time.ts"
import { Configuration } from "./Configuration.ts"
import { Channel, DenialReason } from "./Protocol.ts"

const consumerId = Schema.String

export const Event = Schema.TaggedUnion({
  /** The first event, and each change of the settings. */
  Configured: { at, configuration: Configuration, by: Schema.String, reason },
  Entered: { at, consumerId, risk },
  Left: { at, consumerId, by, grant: endedGrant },
  /** The member has a grant for a unit that is held for it. */
  Offered: { at, consumerId },
  ...grantEvents(DenialReason),
  /** Without `reason`: the waitlist ended before the member was notified, or closed before it got an offer. */
  Denied: { at, consumerId, reason: Schema.optionalKey(DenialReason), by, grant: endedGrant },
  /** When the sequence opens, and so when the members are to be notified; absent: not known. */
  NoticeScheduled: { at, noticeAt: Schema.optionalKey(Timestamp) },
  /** The sequence has opened. */
  NoticeDue: { at },
  /** The member was notified that the sequence is open; `channel` is absent if no message could be delivered to it. */
  Notified: { at, consumerId, channel: Schema.optionalKey(Channel) },
  ...unitEvents,
  ...grantExtended,
  ...lifecycleEvents
})
export type Event = typeof Event.Type
