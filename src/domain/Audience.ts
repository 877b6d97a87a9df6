/**
 * The audience: consumers for whom a sequence can be kept (interface document 8.3; completions 4, "Audiences").
 */
import { Schema } from "effect"
import { stampFields } from "./Experience.ts"
import { Id } from "./Ids.ts"
import { Name } from "./Text.ts"
import { Timestamp } from "./Time.ts"

/** Whether the members are named one by one, or follow from what is known of them. */
export const AudienceType = Schema.Literals(["STATIC", "DYNAMIC"])

/** What an admin sets. */
export const Settings = Schema.Struct({ name: Name })
export type Settings = typeof Settings.Type

/** Consumers that can be added or removed at once. */
export const membersAtOnceMax = 500

/** The audience as it goes out. */
export const Audience = Schema.Struct({
  id: Id,
  organizationId: Id,
  name: Schema.String,
  type: AudienceType,
  memberCount: Schema.Int,
  /** When its members last changed; null if never. */
  lastRefreshedAt: Schema.NullOr(Timestamp),
  ...stampFields
}).annotate({ identifier: "Audience" })
export type Audience = typeof Audience.Type
