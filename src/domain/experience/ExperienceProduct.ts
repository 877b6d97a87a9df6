/**
 * The products that an experience offers, each in all variants or in one. Catalogue records are shown here as stored.
 * Unset fields are null.
 */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"

/** Limit of products per experience. */
export const productsMax = 200

/** A product that an admin offers in an experience. Without a variant, all its variants are offered. */
export const OfferedProduct = Schema.Struct({
  productId: Id,
  productVariantId: Schema.optionalKey(Schema.NullOr(Id)),
  position: Schema.optionalKey(
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })).annotate({
        description: "Lower comes first. Default: its place in the list."
      })
    )
  )
})

/** An offered product. A null variant means all its variants. */
export interface Offer {
  readonly productId: string
  readonly productVariantId: string | null
  readonly position: number
}

/** Converts a list to offers. A product without a position gets its index in the list. */
export const offersOf = (products: ReadonlyArray<typeof OfferedProduct.Type>): ReadonlyArray<Offer> =>
  products.map(({ productId, productVariantId, position }, index) => ({
    productId,
    productVariantId: productVariantId ?? null,
    position: position ?? index
  }))

/** True if the variant is offered. */
export const isOffered = (
  offers: ReadonlyArray<Pick<Offer, "productId" | "productVariantId">>,
  variant: { readonly id: string; readonly productId: string }
): boolean =>
  offers.some(
    ({ productId, productVariantId }) =>
      productVariantId === variant.id || (productVariantId === null && productId === variant.productId)
  )

const Text = Schema.NullOr(Schema.String)
const At = Schema.NullOr(Schema.String.annotate({ format: "date-time" }))
const Free = Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))

/** The fields of every catalogue record. */
const recordFields = {
  id: Id,
  organizationId: Id,
  archived: Schema.Boolean,
  createdAt: Schema.String.annotate({ format: "date-time" }),
  createdBy: Schema.String,
  updatedAt: At,
  updatedBy: Text
}

/** The system that a product is synchronized from. */
const OfferedSyncSource = Schema.Struct({
  ...recordFields,
  syncSource: Schema.String,
  syncSourceId: Schema.String,
  sourceData: Free,
  syncStatus: Text,
  lastSyncedAt: At
}).annotate({ identifier: "OfferedSyncSource" })

const OfferedMediaAsset = Schema.Struct({
  ...recordFields,
  name: Text,
  altText: Text,
  description: Text,
  mimeType: Text,
  publicUrl: Text,
  sourceUrl: Text,
  thumbnailUrl: Text,
  uploadUrl: Text
}).annotate({ identifier: "OfferedMediaAsset" })

const OfferedProductMediaAsset = Schema.Struct({
  id: Id,
  mediaAssetId: Id,
  organizationId: Id,
  productId: Id,
  position: Schema.Int,
  purpose: Text,
  mediaAsset: OfferedMediaAsset
}).annotate({ identifier: "OfferedProductMediaAsset" })

const syncFields = {
  primaryExternalId: Text,
  primarySourceVendor: Text,
  primarySyncSourceId: Text,
  primaryLastSyncedAt: At
}

const OfferedVariant = Schema.Struct({
  ...recordFields,
  productId: Id,
  sku: Text,
  price: Text.annotate({ description: "A decimal amount." }),
  inventoryQuantity: Schema.NullOr(Schema.Int),
  inventoryPolicy: Text,
  metadata: Free,
  ...syncFields
}).annotate({ identifier: "OfferedVariant" })

const OfferedVariantWithOptions = Schema.Struct({
  ...OfferedVariant.fields,
  options: Schema.Array(Schema.Struct({ optionId: Id, optionName: Schema.String, value: Schema.String, valueId: Id }))
}).annotate({ identifier: "OfferedVariantWithOptions" })

const Product = Schema.Struct({
  ...recordFields,
  name: Schema.String,
  url: Text,
  handle: Text,
  description: Text,
  defaultVariantId: Schema.NullOr(Id),
  metadata: Free,
  ...syncFields,
  primarySyncSource: Schema.NullOr(OfferedSyncSource),
  productMediaAssets: Schema.Array(OfferedProductMediaAsset),
  variants: Schema.Array(OfferedVariantWithOptions)
}).annotate({ identifier: "OfferedProduct" })

/** A product that an experience offers, by its ids only. */
export const ExperienceProductRef = Schema.Struct({
  id: Id,
  organizationId: Id,
  experienceId: Id,
  productId: Id,
  productVariantId: Schema.NullOr(Id),
  position: Schema.Int
}).annotate({ identifier: "ExperienceProductRef" })
export type ExperienceProductRef = typeof ExperienceProductRef.Type

/** A product that an experience offers, with the product itself and, if only one variant is offered, that variant. */
export const ExperienceProduct = Schema.Struct({
  ...ExperienceProductRef.fields,
  product: Product,
  productVariant: Schema.NullOr(OfferedVariant)
}).annotate({ identifier: "ExperienceProduct" })
export type ExperienceProduct = typeof ExperienceProduct.Type
