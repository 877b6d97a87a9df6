/**
 * The audience: consumers for whom a sequence can be kept (interface document 8.3; completions 4, "Audiences").
 */
import { Schema } from "effect"
import { AudienceRules } from "./AudienceRules.ts"
import { stampFields } from "../experience/Experience.ts"
import { Id } from "../values/Ids.ts"
import { Name } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** Whether the members are named one by one, or follow from what is known of them. */
export const AudienceType = Schema.Literals(["STATIC", "DYNAMIC"])
export type AudienceType = typeof AudienceType.Type

/** What an admin sets. An audience with rules is of type DYNAMIC. */
export const Settings = Schema.Struct({ name: Name, rules: Schema.optionalKey(AudienceRules) })
export type Settings = typeof Settings.Type

/** Consumers that can be added or removed at once. */
export const membersAtOnceMax = 500

/** The audience as it goes out. */
export const Audience = Schema.Struct({
  id: Id,
  organizationId: Id,
  name: Schema.String,
  type: AudienceType,
  /** Of a STATIC audience null. */
  rules: Schema.NullOr(AudienceRules),
  memberCount: Schema.Int,
  /** When its members last changed, or were last counted if it is DYNAMIC; null if never. */
  lastRefreshedAt: Schema.NullOr(Timestamp),
  ...stampFields
}).annotate({ identifier: "Audience" })
export type Audience = typeof Audience.Type
