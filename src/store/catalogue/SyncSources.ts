/**
 * The sync sources of the catalogue.
 */
import { Context, Layer } from "effect"
import { Settings, type SyncSource, syncSourceSorts } from "../../domain/catalogue/SyncSource.ts"
import { type Declaration, each, type InUse, usedBy } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { identityAndStamps, type SettingsRow } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { makeSettingsRecords, type SettingsRecords } from "../records/SettingsRecords.ts"

export interface Row extends SettingsRow {
  readonly sync_source: string
  readonly sync_source_id: string
}

export const shape = listShape("sync sources", "r", syncSourceSorts, { createdAt: "timestamptz" })

const columns = makeSettingsColumns(Settings, { syncSource: "sync_source", syncSourceId: "sync_source_id" })

export const toSyncSource = (row: Row): SyncSource => ({ ...identityAndStamps(row), ...columns.shownOf(row) })

type Sort = keyof typeof shape.sorts

const declaration: Declaration<Row, SyncSource, Sort, InUse> = {
  service: "SyncSources",
  record: "Sync source",
  table: "sync_sources",
  alias: "r",
  recordsOf: each(toSyncSource),
  list: {
    shape,
    searched: "r.sync_source || E'\\n' || r.sync_source_id",
    filters: { syncStatus: "r.record ->> 'syncStatus'" }
  },
  blockedBy: (sql, { id }) =>
    usedBy(sql`
      select (
        (select count(*) from products where primary_sync_source_id = ${id} and not archived) +
        (select count(*) from product_variants where primary_sync_source_id = ${id} and not archived)
      )::int as count`)
}

/** The sync sources. A source that is the primary one of a product or a variant is in use. */
export class SyncSources extends Context.Service<SyncSources, SettingsRecords<Settings, SyncSource, Sort>>()(
  "usher/store/catalogue/SyncSources"
) {
  static readonly layer = Layer.effect(SyncSources, makeSettingsRecords(declaration, columns))
}
