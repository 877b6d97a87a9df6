/**
 * The media assets of the catalogue.
 */
import { Context, Layer } from "effect"
import { type MediaAsset, Settings, mediaAssetSorts } from "../../domain/catalogue/MediaAsset.ts"
import { type Declaration, each, type InUse, usedBy } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { identityAndStamps, type SettingsRow } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { makeSettingsRecords, type SettingsRecords } from "../records/SettingsRecords.ts"

export interface Row extends SettingsRow {
  readonly name: string
}

export const shape = listShape("media assets", "r", mediaAssetSorts, { createdAt: "timestamptz", name: "text" })

const columns = makeSettingsColumns(Settings, { name: "name" })

export const { columnsOf } = columns

export const toMediaAsset = (row: Row): MediaAsset => ({ ...identityAndStamps(row), ...columns.shownOf(row) })

type Sort = keyof typeof shape.sorts

const declaration: Declaration<Row, MediaAsset, Sort, InUse> = {
  service: "MediaAssets",
  record: "Media asset",
  table: "media_assets",
  alias: "r",
  recordsOf: each(toMediaAsset),
  list: { shape, searched: "r.name" },
  blockedBy: (sql, { id }) =>
    usedBy(sql`
      select count(distinct p.id)::int as count
      from product_media_assets u join products p on p.id = u.product_id
      where u.media_asset_id = ${id} and not p.archived`)
}

/** The media assets. An asset that a product shows is in use. */
export class MediaAssets extends Context.Service<MediaAssets, SettingsRecords<Settings, MediaAsset, Sort>>()(
  "usher/store/catalogue/MediaAssets"
) {
  static readonly layer = Layer.effect(MediaAssets, makeSettingsRecords(declaration, columns))
}
