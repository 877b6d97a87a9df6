/**
 * The catalogue rows of an experience's products, and the records that they show. Settings with a column are read from
 * the column, the others from the JSON value `record`.
 */
import type { ExperienceProduct } from "../../domain/experience/ExperienceProduct.ts"
import { toText } from "../../domain/values/Time.ts"

/** A row of the catalogue as JSON. */
interface RecordRow {
  readonly id: string
  readonly organization_id: string
  readonly record: { readonly [name: string]: unknown }
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
  readonly archived: boolean
  readonly [column: string]: unknown
}

/** A product that is offered. */
export interface OfferRow {
  readonly id: string
  readonly organization_id: string
  readonly experience_id: string
  readonly product_id: string
  readonly product_variant_id: string | null
  readonly position: number
  readonly product: RecordRow
  readonly variant: RecordRow | null
  readonly source: RecordRow | null
}

/** A variant of a product that is offered. */
export interface VariantRow {
  readonly product_id: string
  readonly variant: RecordRow
  readonly options: ReadonlyArray<Variant["options"][number]> | null
}

/** A media asset of a product that is offered. */
export interface MediaRow {
  readonly id: string
  readonly product_id: string
  readonly media_asset_id: string
  readonly position: number
  readonly purpose: string | null
  readonly asset: RecordRow
}

type Product = ExperienceProduct["product"]
type Variant = Product["variants"][number]

/** Returns the products with all their parts, in the order of the offers. */
export const toProducts = (
  offers: ReadonlyArray<OfferRow>,
  variants: ReadonlyArray<VariantRow>,
  media: ReadonlyArray<MediaRow>
): ReadonlyArray<ExperienceProduct> => {
  const variantsOf = Map.groupBy(variants, ({ product_id }) => product_id)
  const mediaOf = Map.groupBy(media, ({ product_id }) => product_id)
  return offers.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    experienceId: row.experience_id,
    productId: row.product_id,
    productVariantId: row.product_variant_id,
    position: row.position,
    product: toProduct(row, variantsOf.get(row.product_id) ?? [], mediaOf.get(row.product_id) ?? []),
    productVariant: row.variant === null ? null : toVariant(row.variant)
  }))
}

const toProduct = (
  { product, source }: OfferRow,
  variants: ReadonlyArray<VariantRow>,
  media: ReadonlyArray<MediaRow>
): Product => ({
  ...shown(product, [
    "url",
    "handle",
    "description",
    "metadata",
    "primaryExternalId",
    "primarySourceVendor",
    "primaryLastSyncedAt"
  ]),
  name: product["name"] as string,
  defaultVariantId: product["default_variant_id"] as string | null,
  primarySyncSourceId: product["primary_sync_source_id"] as string | null,
  primarySyncSource:
    source === null
      ? null
      : {
          ...shown(source, ["sourceData", "syncStatus", "lastSyncedAt"]),
          syncSource: source["sync_source"] as string,
          syncSourceId: source["sync_source_id"] as string
        },
  productMediaAssets: media.map((row) => ({
    id: row.id,
    mediaAssetId: row.media_asset_id,
    organizationId: product.organization_id,
    productId: row.product_id,
    position: row.position,
    purpose: row.purpose,
    mediaAsset: {
      ...shown(row.asset, [
        "altText",
        "description",
        "mimeType",
        "publicUrl",
        "sourceUrl",
        "thumbnailUrl",
        "uploadUrl"
      ]),
      name: row.asset["name"] as string
    }
  })),
  variants: variants.map(({ variant, options }) => ({ ...toVariant(variant), options: options ?? [] }))
})

const toVariant = (variant: RecordRow): Omit<Variant, "options"> => ({
  ...shown(variant, [
    "price",
    "inventoryQuantity",
    "inventoryPolicy",
    "metadata",
    "primaryExternalId",
    "primarySourceVendor",
    "primarySyncSourceId",
    "primaryLastSyncedAt"
  ]),
  productId: variant["product_id"] as string,
  sku: variant["sku"] as string | null
})

/** Returns the fields that every record has, and these settings, null where they are not set. */
const shown = <const Name extends string>({ record, ...row }: RecordRow, names: ReadonlyArray<Name>) => ({
  // They have the types that the catalogue schemas decoded.
  ...(Object.fromEntries(names.map((name) => [name, record[name] ?? null])) as { readonly [N in Name]: never }),
  id: row.id,
  organizationId: row.organization_id,
  createdAt: toText(Date.parse(row.created_at)),
  createdBy: row.created_by,
  updatedAt: toText(Date.parse(row.updated_at)),
  updatedBy: row.updated_by,
  archived: row.archived
})
