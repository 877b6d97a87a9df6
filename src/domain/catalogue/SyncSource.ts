/** The sync source: the system that catalogue records are synchronized from. */
import { Schema } from "effect"
import { recordSchema } from "../values/Record.ts"
import { JsonObject, text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"
import { SourceData } from "./Metadata.ts"

/** The result of the last synchronization, or that none has run yet. */
export const SyncStatus = Schema.Literals(["PENDING", "SUCCESS", "FAILED"])
export type SyncStatus = typeof SyncStatus.Type

/** The fields an admin sets: the system, such as a shop's software, and the name of the source there. */
export const Settings = Schema.Struct({
  syncSource: text({ minLength: 1, maxLength: 200 }),
  syncSourceId: text({ minLength: 1, maxLength: 500 }),
  sourceData: Schema.optionalKey(SourceData),
  syncStatus: Schema.optionalKey(SyncStatus),
  lastSyncedAt: Schema.optionalKey(Timestamp)
})
export type Settings = typeof Settings.Type

/** The sync source in responses. Unset fields are null. */
export const SyncSource = recordSchema("SyncSource", {
  syncSource: Schema.String,
  syncSourceId: Schema.String,
  sourceData: Schema.NullOr(JsonObject),
  syncStatus: Schema.NullOr(SyncStatus),
  lastSyncedAt: Schema.NullOr(Timestamp)
})
export type SyncSource = typeof SyncSource.Type

/** How the list of sync sources can be sorted. The first is the default. */
export const syncSourceSorts = ["createdAt"] as const
