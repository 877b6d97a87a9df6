/**
 * What products show besides their own row: variants, media assets and sync source, each gathered in one statement for as
 * many products as there are.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type MediaUse, type Product, type ProductMediaAsset, Settings } from "../../domain/catalogue/Product.ts"
import { identityAndStamps, insertRows, type SettingsRow } from "../records/Rows.ts"
import { type Row as MediaAssetRow, toMediaAsset } from "./MediaAssets.ts"
import { type Row as SyncSourceRow, toSyncSource } from "./SyncSources.ts"
import { type Row as VariantRow, toVariant, withOptions } from "./VariantRows.ts"

/** A row of `products`. */
export interface Row extends SettingsRow {
  readonly name: string
  readonly default_variant_id: string | null
  readonly primary_sync_source_id: string | null
}

/** The settings of a product as columns. */
export const columnsOf = (sql: PgClient.PgClient, settings: Settings) => {
  const { name, defaultVariantId = null, primarySyncSourceId = null, ...record } = encode(settings)
  return {
    name,
    default_variant_id: defaultVariantId,
    primary_sync_source_id: primarySyncSourceId,
    record: sql.json(record)
  }
}

/** The settings of a row. */
export const settingsOf = ({ record, name, default_variant_id, primary_sync_source_id }: Row): Settings =>
  decode({
    ...record,
    name,
    ...(default_variant_id !== null && { defaultVariantId: default_variant_id }),
    ...(primary_sync_source_id !== null && { primarySyncSourceId: primary_sync_source_id })
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

/**
 * The products of these rows, in the same order, with their variants that are not archived; or, where some are named, with
 * those.
 */
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
  return rows.map((row): Product => {
    const settings = settingsOf(row)
    return {
      ...identityAndStamps(row),
      name: settings.name,
      url: settings.url ?? null,
      handle: settings.handle ?? null,
      description: settings.description ?? null,
      defaultVariantId: settings.defaultVariantId ?? null,
      metadata: settings.metadata ?? null,
      primaryExternalId: settings.primaryExternalId ?? null,
      primarySourceVendor: settings.primarySourceVendor ?? null,
      primarySyncSourceId: settings.primarySyncSourceId ?? null,
      primaryLastSyncedAt: settings.primaryLastSyncedAt ?? null,
      primarySyncSource: sources.get(row.primary_sync_source_id ?? "") ?? null,
      productMediaAssets: (media.get(row.id) ?? []).map(toProductMediaAsset),
      variants: (variants.get(row.id) ?? []).map(toVariant)
    }
  })
})

const encode = Schema.encodeSync(Settings)
const decode = Schema.decodeUnknownSync(Settings)

/** A media asset with the use that a product makes of it. */
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
