/** The audience: a group of consumers; a sequence can be restricted to it. */
import { Schema } from "effect"
import { AudienceRules } from "./AudienceRules.ts"
import { recordSchema } from "../values/Record.ts"
import { Name } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** Whether an admin adds members individually, or rules select them. */
export const AudienceType = Schema.Literals(["STATIC", "DYNAMIC"])
export type AudienceType = typeof AudienceType.Type

/** The fields an admin sets. An audience with rules has the type DYNAMIC. */
export const Settings = Schema.Struct({ name: Name, rules: Schema.optionalKey(AudienceRules) })
export type Settings = typeof Settings.Type

/** Limit of consumers added or removed in one request. */
export const membersAtOnceMax = 500

/** The audience in responses. */
export const Audience = recordSchema("Audience", {
  name: Schema.String,
  type: AudienceType,
  /** Null for a STATIC audience. */
  rules: Schema.NullOr(AudienceRules),
  memberCount: Schema.Int,
  /** When its members last changed, or for DYNAMIC were last counted; null if never. */
  lastRefreshedAt: Schema.NullOr(Timestamp)
})
export type Audience = typeof Audience.Type

/** How the list of members of an audience can be sorted. The first is the default. */
export const audienceMemberSorts = ["addedAt", "consumerId"] as const

/** How the list of audiences can be sorted. The first is the default. */
export const audienceSorts = ["createdAt", "name", "lastRefreshedAt"] as const
