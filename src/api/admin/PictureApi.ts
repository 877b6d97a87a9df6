/** Uploaded pictures on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Picture, pictureBytesMax, pictureSorts, uploadTypes } from "../../domain/catalogue/Picture.ts"
import { Id } from "../../domain/values/Ids.ts"
import { RawBody } from "../Annotations.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf } from "./Lists.ts"
import { operationsOn } from "./RecordApi.ts"

const picture = operationsOn(Picture, { name: "Picture", aNoun: "a picture", path: "pictures" })

const [png, jpeg, webp, avif] = uploadTypes
const file = <const Type extends string>(contentType: Type) =>
  Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType }))

const upload = HttpApiEndpoint.post("uploadPicture", "/pictures", {
  payload: [file(png), file(jpeg), file(webp), file(avif)],
  success: Picture.pipe(HttpApiSchema.status(201)),
  error: Conflict
})
  .annotate(RawBody, { bytesMax: pictureBytesMax, types: uploadTypes })
  .annotateMerge(
    OpenApi.annotations({
      summary: "Upload a picture",
      description:
        "The body is the file: PNG, JPEG, WebP or AVIF, at most 5 MB and 40 megapixels (AVIF: 16), not animated. Its content tells " +
        "its type. The picture is decoded and encoded again as WebP, turned as its orientation says, with at most 2,400 px " +
        "a side. Nothing else of the file is kept, such as where the picture was taken. A file that cannot be decoded is a " +
        "400 (`type`: `picture`). A 503 with `Retry-After` says that too many files wait.\n\nProducts, looks and pages " +
        "take the `url` as it is. It never changes, and everybody who knows it can open it. An organization has at most " +
        "1,000 pictures and 500 MB of them in each mode (409 `PICTURE_LIMIT`)."
    })
  )

const list = HttpApiEndpoint.get("listPictures", "/pictures", {
  query: listQuery(pictureSorts),
  success: pageOf(Picture).annotate({ identifier: "PicturePage" })
}).annotateMerge(listAnnotations({ summary: "List pictures", description: "Lists uploaded pictures." }))

const remove = HttpApiEndpoint.delete("removePicture", "/pictures/:id", {
  params: { id: Id },
  success: Picture,
  error: [NotFound, Conflict]
}).annotateMerge(
  OpenApi.annotations({
    summary: "Remove a picture",
    description:
      "Returns the picture as it was. It is refused while a product, a look or a page shows it (409 " +
      "`PICTURE_IN_USE`). Caches may show it for a year."
  })
)

export class PictureApi extends HttpApiGroup.make("pictures")
  .add(upload, list, picture.get(), remove)
  .annotateMerge(
    OpenApi.annotations({
      title: "Pictures",
      description: "Pictures that Usher stores and serves itself, at `/pictures/{id}` of the Consumer API's listener."
    })
  ) {}
