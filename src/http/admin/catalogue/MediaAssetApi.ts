/** Media assets on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { MediaAsset, Settings } from "../../../domain/catalogue/MediaAsset.ts"
import { Id } from "../../../domain/values/Ids.ts"
import * as MediaAssets from "../../../store/catalogue/MediaAssets.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { archivedQuery, restores } from "../records/Restoring.ts"

/** The body of `POST /media-assets`. */
export const CreateMediaAsset = Schema.Struct(createFields(Settings.fields, ["name"])).annotate({
  identifier: "CreateMediaAsset"
})

/** The body of `PUT /media-assets/{id}`. */
export const ChangeMediaAsset = Schema.Struct(changeFields(Settings.fields, ["name"])).annotate({
  identifier: "ChangeMediaAsset"
})

const params = { id: Id }

export class MediaAssetApi extends HttpApiGroup.make("mediaAssets")
  .add(
    HttpApiEndpoint.post("createMediaAsset", "/media-assets", {
      payload: CreateMediaAsset,
      success: MediaAsset.pipe(HttpApiSchema.status(201))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a media asset",
        description:
          "A picture, a film or another file that products show. Usher keeps what is said of it; the file itself is kept where its addresses lead."
      })
    ),
    HttpApiEndpoint.get("listMediaAssets", "/media-assets", {
      query: { ...listQuery(MediaAssets.shape), ...searchQuery("the name"), ...archivedQuery },
      success: pageOf(MediaAsset).annotate({ identifier: "MediaAssetPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List media assets",
        description: "All that are not archived, or with `archived=true` those that are."
      })
    ),
    HttpApiEndpoint.get("getMediaAsset", "/media-assets/:id", {
      params,
      success: MediaAsset,
      error: NotFound
    }).annotateMerge(OpenApi.annotations({ summary: "Get a media asset" })),
    HttpApiEndpoint.put("changeMediaAsset", "/media-assets/:id", {
      params,
      payload: ChangeMediaAsset,
      success: MediaAsset,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a media asset",
        description: "Send the fields to change: one that is absent keeps its value, null takes an optional one away."
      })
    ),
    HttpApiEndpoint.delete("archiveMediaAsset", "/media-assets/:id", {
      params,
      success: MediaAsset,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a media asset",
        description:
          "Answers the archived record. As long as a product shows it, it is refused (409 `MEDIA_ASSET_IN_USE`)."
      })
    ),
    HttpApiEndpoint.post("restoreMediaAsset", "/media-assets/:id/restore", {
      params,
      success: MediaAsset,
      error: NotFound
    }).annotateMerge(restores({ aNoun: "a media asset" }))
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Media assets", description: "Pictures and other media that products show." })
  ) {}
