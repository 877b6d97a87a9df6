/**
 * What an experience offers: products, each whole or in one of its variants (interface document 2.7; completions 4). The
 * catalogue's records are shown here as they are stored; what is not set is null.
 */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"

/** Products one experience offers at most. */
export const productsMax = 200

/** What an admin says of a product that an experience offers; without a variant it is offered in all of them. */
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

/** A product that is offered; null: in all of its variants. */
export interface Offer {
  readonly productId: string
  readonly productVariantId: string | null
  readonly position: number
}

/** The offers that a list says; a product without a position has that of its place in the list. */
export const offersOf = (products: ReadonlyArray<typeof OfferedProduct.Type>): ReadonlyArray<Offer> =>
  products.map(({ productId, productVariantId, position }, index) => ({
    productId,
    productVariantId: productVariantId ?? null,
    position: position ?? index
  }))

/** True if the variant of the product is among what is offered. */
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

/** What every record of the catalogue has. */
const recordFields = {
  id: Id,
  organizationId: Id,
  archived: Schema.Boolean,
  createdAt: Schema.String.annotate({ format: "date-time" }),
  createdBy: Schema.String,
  updatedAt: At,
  updatedBy: Text
}

/** Where a product is synchronized from. */
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

/** A product that an experience offers, by its names alone. */
export const ExperienceProductRef = Schema.Struct({
  id: Id,
  organizationId: Id,
  experienceId: Id,
  productId: Id,
  productVariantId: Schema.NullOr(Id),
  position: Schema.Int
}).annotate({ identifier: "ExperienceProductRef" })
export type ExperienceProductRef = typeof ExperienceProductRef.Type

/** A product that an experience offers, with the product itself and, if it is offered in one alone, the variant. */
export const ExperienceProduct = Schema.Struct({
  ...ExperienceProductRef.fields,
  product: Product,
  productVariant: Schema.NullOr(OfferedVariant)
}).annotate({ identifier: "ExperienceProduct" })
export type ExperienceProduct = typeof ExperienceProduct.Type
