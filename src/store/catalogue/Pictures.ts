/** Uploaded pictures with their bytes. */
import { Context, Effect, Layer, Schema } from "effect"
import {
  type Picture,
  picturePath,
  picturesBytesMax,
  pictureSorts,
  picturesMax,
  pictureType
} from "../../domain/catalogue/Picture.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { InUse } from "../records/Declaration.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { unarchivedOf } from "../records/Tenancy.ts"
import * as Uploads from "./Uploads.ts"

export const shape = listShape("pictures", "p", pictureSorts, { createdAt: "timestamptz" })

/** The tenant has as many pictures, or as many bytes of them, as it may have. */
export class PicturesFull extends Schema.TaggedError<PicturesFull>()("PicturesFull", {}) {}

/** A picture before it is stored. */
export interface NewPicture {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

interface Row extends Uploads.UploadRow {
  readonly width: number
  readonly height: number
}

const uploads = Uploads.make({
  service: "Pictures",
  record: "Picture",
  table: "pictures",
  alias: "p",
  shape,
  columns: "p.id, p.width, p.height, p.size, p.created_at, p.created_by",
  toRecord: (row: Row): Picture => ({
    id: row.id,
    url: picturePath(row.id),
    width: row.width,
    height: row.height,
    contentType: pictureType,
    bytes: row.size,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by
  }),
  pathOf: picturePath,
  // Media of products.
  moreUsers: (sql, tenant, path) => sql`
    select count(*) from media_assets m
    where ${unarchivedOf(sql, tenant, "m")} and position(${path} in m.record::text) > 0
      and exists (select from product_media_assets u where u.media_asset_id = m.id)`
})

export class Pictures extends Context.Service<
  Pictures,
  {
    create(tenant: Tenant, by: string, picture: NewPicture): Effect.Effect<Picture, PicturesFull | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Picture, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Picture>, PageRefused | Unavailable>
    /** Removes the picture with its bytes, unless a record names it. */
    remove(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<{ readonly _tag: "Archived"; readonly record: Picture } | InUse, RecordNotFound | Unavailable>
    /** Returns the bytes of a picture of any tenant; undefined if there is none. */
    bytes(id: string): Effect.Effect<Uint8Array | undefined, Unavailable>
  }
>()("usher/store/catalogue/Pictures") {
  static readonly layer = Layer.effect(Pictures)(
    Effect.map(uploads, ({ create, ...others }) => ({
      ...others,
      create: (tenant, by, { bytes, width, height }) =>
        Effect.flatMap(
          create(
            tenant,
            by,
            bytes,
            { width, height, content_type: pictureType },
            (held) => held.count >= picturesMax || held.bytes + bytes.length > picturesBytesMax
          ),
          (picture) => (picture === undefined ? Effect.fail(new PicturesFull()) : Effect.succeed(picture))
        )
    }))
  )
}
