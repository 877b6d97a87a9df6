/** Uploaded fonts with their bytes. */
import { Context, Effect, Layer, Schema } from "effect"
import { type Font, fontPath, fontsMax, fontSorts, fontType } from "../../domain/catalogue/Font.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { InUse } from "../records/Declaration.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import * as Uploads from "./Uploads.ts"

export const shape = listShape("fonts", "f", fontSorts, { createdAt: "timestamptz" })

/** The tenant has as many fonts as it may have. */
export class FontsFull extends Schema.TaggedError<FontsFull>()("FontsFull", {}) {}

const uploads = Uploads.make({
  service: "Fonts",
  record: "Font",
  table: "fonts",
  alias: "f",
  shape,
  columns: "f.id, f.size, f.created_at, f.created_by",
  toRecord: (row: Uploads.UploadRow): Font => ({
    id: row.id,
    url: fontPath(row.id),
    contentType: fontType,
    bytes: row.size,
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by
  }),
  pathOf: fontPath
})

export class Fonts extends Context.Service<
  Fonts,
  {
    create(tenant: Tenant, by: string, bytes: Uint8Array): Effect.Effect<Font, FontsFull | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Font, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>
    ): Effect.Effect<Page<Font>, PageRefused | Unavailable>
    /** Removes the font with its bytes, unless a look names it. */
    remove(
      tenant: Tenant,
      id: string,
      by: string
    ): Effect.Effect<{ readonly _tag: "Archived"; readonly record: Font } | InUse, RecordNotFound | Unavailable>
    /** Returns the bytes of a font of any tenant; undefined if there is none. */
    bytes(id: string): Effect.Effect<Uint8Array | undefined, Unavailable>
  }
>()("usher/store/catalogue/Fonts") {
  static readonly layer = Layer.effect(Fonts)(
    Effect.map(uploads, ({ create, ...others }) => ({
      ...others,
      create: (tenant, by, bytes) =>
        Effect.flatMap(
          create(tenant, by, bytes, {}, ({ count }) => count >= fontsMax),
          (font) => (font === undefined ? Effect.fail(new FontsFull()) : Effect.succeed(font))
        )
    }))
  )
}
