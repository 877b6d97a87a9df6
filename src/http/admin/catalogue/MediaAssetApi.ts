/** Media assets on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { MediaAsset, Settings } from "../../../domain/catalogue/MediaAsset.ts"
import * as MediaAssets from "../../../store/catalogue/MediaAssets.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

/** The body of `POST /media-assets`. */
export const CreateMediaAsset = Schema.Struct(createFields(Settings.fields, ["name"])).annotate({
  identifier: "CreateMediaAsset"
})

/** The body of `PUT /media-assets/{id}`. */
export const ChangeMediaAsset = Schema.Struct(changeFields(Settings.fields, ["name"])).annotate({
  identifier: "ChangeMediaAsset"
})

const { create, list, get, change, archive, restore } = operationsOn({
  name: "MediaAsset",
  aNoun: "a media asset",
  path: "media-assets",
  record: MediaAsset
})

export class MediaAssetApi extends HttpApiGroup.make("mediaAssets")
  .add(
    create({
      payload: CreateMediaAsset,
      description:
        "A picture, a film or another file that products show. Usher keeps what is said of it; the file itself is kept where its addresses lead."
    }),
    list({
      shape: MediaAssets.shape,
      search: "the name",
      description: "All that are not archived, or with `archived=true` those that are."
    }),
    get(),
    change({
      payload: ChangeMediaAsset,
      description: "Send the fields to change: one that is absent keeps its value, null takes an optional one away."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Answers the archived record. As long as a product shows it, it is refused (409 `MEDIA_ASSET_IN_USE`)."
    }),
    restore()
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Media assets", description: "Pictures and other media that products show." })
  ) {}
