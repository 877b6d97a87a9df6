/** Uploaded fonts on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Font, fontBytesMax, fontSorts, fontType } from "../../domain/catalogue/Font.ts"
import { Id } from "../../domain/values/Ids.ts"
import { RawBody } from "../Annotations.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf } from "./Lists.ts"
import { operationsOn } from "./RecordApi.ts"

const font = operationsOn(Font, { name: "Font", aNoun: "a font", path: "fonts" })

const upload = HttpApiEndpoint.post("uploadFont", "/fonts", {
  payload: [Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: fontType }))],
  success: Font.pipe(HttpApiSchema.status(201)),
  error: Conflict
})
  .annotate(RawBody, { bytesMax: fontBytesMax, types: [fontType] })
  .annotateMerge(
    OpenApi.annotations({
      summary: "Upload a font",
      description:
        "The body is the file: one font as WOFF2, at most 300 KB. Its content tells its type. A file that is none is a 400 " +
        "(`type`: `font`).\n\nThe `theme` of an experience, or of the organization, takes the `url` as `fontUrl` or " +
        "`headingFontUrl`. It never changes, and everybody who knows it can open it. An organization has at most 50 fonts " +
        "in each mode (409 `FONT_LIMIT`)."
    })
  )

const list = HttpApiEndpoint.get("listFonts", "/fonts", {
  query: listQuery(fontSorts),
  success: pageOf(Font).annotate({ identifier: "FontPage" })
}).annotateMerge(listAnnotations({ summary: "List fonts", description: "Lists uploaded fonts." }))

const remove = HttpApiEndpoint.delete("removeFont", "/fonts/:id", {
  params: { id: Id },
  success: Font,
  error: [NotFound, Conflict]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Remove a font",
    description: "Returns the font as it was. It is refused while a look names it (409 `FONT_IN_USE`)."
  })
)

export class FontApi extends HttpApiGroup.make("fonts")
  .add(upload, list, font.get(), remove)
  .annotateMerge(
    OpenApi.annotations({
      title: "Fonts",
      description: "Fonts that Usher stores and serves itself, at `/fonts/{id}` of the Consumer API's listener."
    })
  ) {}
