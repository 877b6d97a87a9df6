/** The handlers of media assets on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/MediaAsset.ts"
import { MediaAssets } from "../../../store/catalogue/MediaAssets.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"
import { orInUse } from "../records/References.ts"

export const MediaAssetHandlers = HttpApiBuilder.group(AdminApi, "mediaAssets", (handlers) =>
  Effect.map(MediaAssets, (mediaAssets) =>
    handlers.handleAll({
      createMediaAsset: ({ payload }) =>
        forTenant((tenant, by) => mediaAssets.create(tenant, by, revised({}, payload))),

      listMediaAssets: onList(mediaAssets.list),

      getMediaAsset: onRecord(mediaAssets.find),

      changeMediaAsset: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => mediaAssets.change(tenant, id, by, (settings) => revised(settings, payload))),

      archiveMediaAsset: onRecord((tenant, id, by) => Effect.flatMap(mediaAssets.archive(tenant, id, by), inUse)),

      restoreMediaAsset: onRecord(mediaAssets.restore)
    })
  )
)

const inUse = orInUse({ record: "Media asset", code: "MEDIA_ASSET_IN_USE", users: "product(s)" })

const revised = revising<Settings>(Settings.fields)
