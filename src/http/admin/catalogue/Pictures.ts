/** The handlers of uploaded pictures on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { Conflict } from "../../../api/Errors.ts"
import { Pictures, type PicturesFull } from "../../../store/catalogue/Pictures.ts"
import { answering } from "../../errors/Answering.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { orInUse } from "../records/References.ts"
import { PictureCleaner, type PictureRefused, type RefusedReason } from "./CleanPicture.ts"
import { refusedFile } from "./RefusedFile.ts"

export const PictureHandlers = HttpApiBuilder.group(AdminApi, "pictures", (handlers) =>
  Effect.gen(function* () {
    const pictures = yield* Pictures
    const cleaner = yield* PictureCleaner
    return handlers.handleAll({
      uploadPicture: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.flatMap(cleaner.clean(payload), (picture) => pictures.create(tenant, by, picture))
        ).pipe(orRefused),

      listPictures: onList(pictures.list),

      getPicture: onRecord(pictures.find),

      removePicture: onRecord((tenant, id, by) => Effect.flatMap(pictures.remove(tenant, id, by), inUse))
    })
  })
)

const inUse = orInUse({ record: "Picture", code: "PICTURE_IN_USE", users: "record(s)" })

const expected: { readonly [Reason in RefusedReason]: string } = {
  EMPTY: "a file",
  TOO_LARGE: "a picture of at most 5 MB",
  UNKNOWN_TYPE: "a PNG, JPEG, WebP or AVIF picture",
  TOO_MANY_PIXELS: "a picture of at most 40 megapixels, as AVIF 16",
  ANIMATED: "a picture that is not animated",
  DAMAGED: "a picture that is not damaged",
  TOO_SLOW: "a picture that is decoded within 10 seconds"
}

/** Turns a file that becomes no picture into a 400, and a full store into a 409. */
const orRefused = answering({
  PictureRefused: ({ reason }: PictureRefused) => refusedFile("picture", expected[reason]),
  PicturesFull: (_: PicturesFull) =>
    new Conflict({ error: "The organization has as many pictures as it may have", code: "PICTURE_LIMIT" })
})
