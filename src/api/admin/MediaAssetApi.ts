/** Media assets on the Admin API. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { MediaAsset, Settings, mediaAssetSorts } from "../../domain/catalogue/MediaAsset.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

/** The body of `POST /media-assets`. */
export const CreateMediaAsset = Schema.Struct(createFields(Settings.fields, ["name"])).annotate({
  identifier: "CreateMediaAsset"
})

/** The body of `PUT /media-assets/{id}`. */
export const ChangeMediaAsset = Schema.Struct(changeFields(Settings.fields, ["name"])).annotate({
  identifier: "ChangeMediaAsset"
})

const mediaAsset = operationsOn(MediaAsset, { name: "MediaAsset", aNoun: "a media asset", path: "media-assets" })

export class MediaAssetApi extends HttpApiGroup.make("mediaAssets")
  .add(
    mediaAsset.create({
      payload: CreateMediaAsset,
      description:
        "A picture, a film or another file that products show. Usher stores its description. The file stays at its " +
        "addresses."
    }),
    mediaAsset.list({
      sorts: mediaAssetSorts,
      search: "the name",
      description: "Lists media assets that are not archived, or with `archived=true` only archived ones."
    }),
    mediaAsset.get(),
    mediaAsset.change({
      payload: ChangeMediaAsset,
      description: "Send only the fields to change. An absent field keeps its value; null removes an optional one."
    }),
    mediaAsset.archive({
      error: [NotFound, Conflict],
      description:
        "Returns the archived record. It is refused while a product shows the media asset (409 `MEDIA_ASSET_IN_USE`)."
    }),
    mediaAsset.restore()
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Media assets", description: "Pictures and other media that products show." })
  ) {}
