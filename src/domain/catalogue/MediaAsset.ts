/** The media asset: a picture, a film or another file that products show. */
import { Schema } from "effect"
import { recordSchema } from "../values/Record.ts"
import { HttpsUrl, Name, text } from "../values/Text.ts"
import { PictureUrl } from "./Picture.ts"

/** The fields an admin sets. The file itself is stored elsewhere. */
export const Settings = Schema.Struct({
  name: Name,
  altText: Schema.optionalKey(text({ maxLength: 1_000 })),
  description: Schema.optionalKey(text({ maxLength: 2_000 })),
  mimeType: Schema.optionalKey(text({ maxLength: 200 }).annotate({ examples: ["image/jpeg"] })),
  publicUrl: Schema.optionalKey(PictureUrl),
  sourceUrl: Schema.optionalKey(HttpsUrl),
  thumbnailUrl: Schema.optionalKey(PictureUrl),
  uploadUrl: Schema.optionalKey(HttpsUrl)
})
export type Settings = typeof Settings.Type

/** The media asset in responses. Unset fields are null. */
export const MediaAsset = recordSchema("MediaAsset", {
  name: Schema.String,
  altText: Schema.NullOr(Schema.String),
  description: Schema.NullOr(Schema.String),
  mimeType: Schema.NullOr(Schema.String),
  publicUrl: Schema.NullOr(Schema.String),
  sourceUrl: Schema.NullOr(Schema.String),
  thumbnailUrl: Schema.NullOr(Schema.String),
  uploadUrl: Schema.NullOr(Schema.String)
})
export type MediaAsset = typeof MediaAsset.Type

/** How the list of media assets can be sorted. The first is the default. */
export const mediaAssetSorts = ["createdAt", "name"] as const
