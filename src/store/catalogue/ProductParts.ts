/**
 * The rows of products, and the parts of products from other tables: variants, media assets and sync sources. One
 * statement per table reads these for all products of a page.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import {
  type MediaUse,
  type NewPicture,
  type Product,
  type ProductMediaAsset,
  Settings
} from "../../domain/catalogue/Product.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { identityAndStamps, insertRows, newRow, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { columnsOf as mediaAssetColumns, type Row as MediaAssetRow, toMediaAsset } from "./MediaAssets.ts"
import { type Row as SyncSourceRow, toSyncSource } from "./SyncSources.ts"
import { type Row as VariantRow, toVariant, withOptions } from "./VariantRows.ts"

export interface Row extends SettingsRow {
  readonly name: string
  readonly default_variant_id: string | null
  readonly primary_sync_source_id: string | null
}

/** Converts the settings of a product. */
export const { columnsOf, settingsOf, shownOf } = makeSettingsColumns(Settings, {
  name: "name",
  defaultVariantId: "default_variant_id",
  primarySyncSourceId: "primary_sync_source_id"
})

/** Writes the media assets that a product shows. */
export const insertMedia = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  productId: string,
  media: ReadonlyArray<MediaUse>
) {
  const rows = yield* Effect.forEach(media, ({ mediaAssetId, position, purpose }, index) =>
    Effect.map(random.uuidV7(), (id) => ({
      id,
      product_id: productId,
      media_asset_id: mediaAssetId,
      position: position ?? index,
      purpose: purpose ?? null
    }))
  )
  yield* insertRows(sql, "product_media_assets", rows)
})

/** Writes a media asset for each picture. Returns them as the media of a product, after those at positions below `from`. */
export const insertPictures = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  tenant: Tenant,
  by: string,
  {
    name,
    pictures,
    from
  }: { readonly name: string; readonly pictures: ReadonlyArray<NewPicture>; readonly from: number }
) {
  const stamp = yield* stampOf(by)
  const rows = yield* Effect.forEach(pictures, ({ url, altText }) =>
    Effect.map(random.uuidV7(), (id) => ({
      ...newRow(tenant, id, stamp),
      ...mediaAssetColumns(sql, { name, publicUrl: url, ...(typeof altText === "string" && { altText }) })
    }))
  )
  yield* insertRows(sql, "media_assets", rows)
  return rows.map(({ id }, index): MediaUse => ({ mediaAssetId: id, position: from + index }))
})

/** Returns the position after all media of a product. */
export const positionAfter = (sql: PgClient.PgClient, productId: string) =>
  Effect.map(
    sql<{ readonly next: number }>`
      select coalesce(max(position) + 1, 0)::int as next from product_media_assets where product_id = ${productId}`,
    ([row]) => row!.next
  )

/** Returns the products of these rows, in the same order, with their unarchived variants or the named variants. */
export const toProducts = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  rows: ReadonlyArray<Row>,
  variantIds?: ReadonlyArray<string>
) {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const variants = Map.groupBy(
    yield* sql<VariantRow>`
      select ${withOptions(sql)} from product_variants v
      where v.product_id = any(${ids}::uuid[]) and ${
        variantIds === undefined ? sql`not v.archived` : sql`v.id = any(${variantIds}::uuid[])`
      }
      order by v.created_at, v.id`,
    ({ product_id }) => product_id
  )
  const media = Map.groupBy(
    yield* sql<MediaRow>`
      select a.*, u.id as use_id, u.product_id, u.position, u.purpose
      from product_media_assets u join media_assets a on a.id = u.media_asset_id
      where u.product_id = any(${ids}::uuid[]) order by u.position, u.id`,
    ({ product_id }) => product_id
  )
  const sourceIds = rows.flatMap(({ primary_sync_source_id }) => primary_sync_source_id ?? [])
  const sources = new Map(
    (yield* sql<SyncSourceRow>`select * from sync_sources where id = any(${sourceIds}::uuid[])`).map((row) => [
      row.id,
      toSyncSource(row)
    ])
  )
  return rows.map((row): Product => ({
    ...identityAndStamps(row),
    ...shownOf(row),
    primarySyncSource: sources.get(row.primary_sync_source_id ?? "") ?? null,
    productMediaAssets: (media.get(row.id) ?? []).map(toProductMediaAsset),
    variants: (variants.get(row.id) ?? []).map(toVariant)
  }))
})

interface MediaRow extends MediaAssetRow {
  readonly use_id: string
  readonly product_id: string
  readonly position: number
  readonly purpose: string | null
}

const toProductMediaAsset = (row: MediaRow): ProductMediaAsset => ({
  id: row.use_id,
  mediaAssetId: row.id,
  organizationId: row.organization_id,
  productId: row.product_id,
  position: row.position,
  purpose: row.purpose,
  mediaAsset: toMediaAsset(row)
})
