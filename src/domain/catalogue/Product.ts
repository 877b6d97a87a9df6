/** The product that an experience releases, with its variants and media. */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"
import { recordSchema } from "../values/Record.ts"
import { HttpsUrl, JsonObject, Name, text } from "../values/Text.ts"
import { MediaAsset } from "./MediaAsset.ts"
import { Metadata } from "./Metadata.ts"
import { originFields, originSettings } from "./Origin.ts"
import { PictureUrl } from "./Picture.ts"
import { SyncSource } from "./SyncSource.ts"
import { Variant } from "./Variant.ts"

/** Limit of media assets per product. */
export const mediaAssetsMax = 50

/** The fields an admin sets. */
export const Settings = Schema.Struct({
  name: Name,
  url: Schema.optionalKey(HttpsUrl),
  handle: Schema.optionalKey(text({ maxLength: 200 })),
  description: Schema.optionalKey(text({ maxLength: 10_000 })),
  defaultVariantId: Schema.optionalKey(Id),
  metadata: Schema.optionalKey(Metadata),
  ...originSettings
})
export type Settings = typeof Settings.Type

/** A media asset that a product shows, with its position and purpose. */
export const MediaUse = Schema.Struct({
  mediaAssetId: Id,
  position: Schema.optionalKey(
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })).annotate({
        description: "Default: its place in the list, from 0."
      })
    )
  ),
  purpose: Schema.optionalKey(Schema.NullOr(text({ maxLength: 200 })))
})
export type MediaUse = typeof MediaUse.Type

export const MediaUses = Schema.Array(MediaUse).check(Schema.isMaxLength(mediaAssetsMax))

/** A picture that becomes a media asset of the product. */
export const NewPicture = Schema.Struct({
  url: PictureUrl,
  altText: Schema.optionalKey(Schema.NullOr(text({ maxLength: 1_000 })))
})
export type NewPicture = typeof NewPicture.Type

export const NewPictures = Schema.Array(NewPicture).check(Schema.isMaxLength(mediaAssetsMax))

/** A media asset of a product in responses. */
export const ProductMediaAsset = Schema.Struct({
  id: Id,
  mediaAssetId: Id,
  organizationId: Id,
  productId: Id,
  position: Schema.Int,
  purpose: Schema.NullOr(Schema.String),
  mediaAsset: MediaAsset
}).annotate({ identifier: "ProductMediaAsset" })
export type ProductMediaAsset = typeof ProductMediaAsset.Type

/** The product in responses. Unset fields are null. Variants are ordered by age, media assets by position. */
export const Product = recordSchema("Product", {
  name: Schema.String,
  url: Schema.NullOr(Schema.String),
  handle: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  defaultVariantId: Schema.NullOr(Id),
  metadata: Schema.NullOr(JsonObject),
  ...originFields,
  primarySyncSource: Schema.NullOr(SyncSource),
  productMediaAssets: Schema.Array(ProductMediaAsset),
  variants: Schema.Array(Variant)
})
export type Product = typeof Product.Type

/** How the list of products can be sorted. The first is the default. */
export const productSorts = ["createdAt", "name", "updatedAt"] as const
