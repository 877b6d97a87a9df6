/**
 * The sync sources of the catalogue.
 */
import { Context, Layer, Schema } from "effect"
import { Settings, type SyncSource } from "../../domain/catalogue/SyncSource.ts"
import { type CatalogueKind, type CatalogueRecords, makeCatalogueRecords } from "./CatalogueRecords.ts"
import { type CatalogueRow, identityAndStamps } from "./CatalogueRows.ts"
import type { ListShape } from "../records/Pagination.ts"

/** A row of `sync_sources`. */
export interface Row extends CatalogueRow {
  readonly sync_source: string
  readonly sync_source_id: string
}

/** The list of sync sources. */
export const shape = {
  name: "sync sources",
  sorts: { createdAt: { expression: "r.created_at", type: "timestamptz" } },
  id: { expression: "r.id", type: "uuid" }
} as const satisfies ListShape<"createdAt">

const encode = Schema.encodeSync(Settings)
const decode = Schema.decodeUnknownSync(Settings)

const settingsOf = (row: Row): Settings =>
  decode({ ...row.record, syncSource: row.sync_source, syncSourceId: row.sync_source_id })

/** The sync source of a row. */
export const toSyncSource = (row: Row): SyncSource => {
  const { syncSource, syncSourceId, sourceData = null, syncStatus = null, lastSyncedAt = null } = settingsOf(row)
  return { ...identityAndStamps(row), syncSource, syncSourceId, sourceData, syncStatus, lastSyncedAt }
}

const kind: CatalogueKind<Settings, SyncSource, Row, keyof typeof shape.sorts> = {
  service: "SyncSources",
  record: "Sync source",
  table: "sync_sources",
  shape,
  searched: "r.sync_source || E'\\n' || r.sync_source_id",
  filters: { syncStatus: "r.record ->> 'syncStatus'" },
  columnsOf: (settings) => {
    const { syncSource, syncSourceId, ...record } = encode(settings)
    return { record, sync_source: syncSource, sync_source_id: syncSourceId }
  },
  settingsOf,
  recordOf: toSyncSource,
  usersOf: (sql, id) => sql`
    select (
      (select count(*) from products where primary_sync_source_id = ${id} and not archived) +
      (select count(*) from product_variants where primary_sync_source_id = ${id} and not archived)
    )::int as count`
}

/** The repository: `list` can be narrowed by `syncStatus`; a source that is a product's or a variant's primary is in use. */
export class SyncSources extends Context.Service<
  SyncSources,
  CatalogueRecords<Settings, SyncSource, keyof typeof shape.sorts>
>()("usher/store/catalogue/SyncSources") {
  static readonly layer = Layer.effect(SyncSources, makeCatalogueRecords(kind))
}
