/** The handlers of media assets on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/MediaAsset.ts"
import { MediaAssets } from "../../../store/catalogue/MediaAssets.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { forTenant, onRecord } from "../records/Operations.ts"
import { withChanges } from "../records/Payloads.ts"
import { orInUse } from "../records/References.ts"
import type { ChangeMediaAsset, CreateMediaAsset } from "./MediaAssetApi.ts"

export const MediaAssetHandlers = HttpApiBuilder.group(
  AdminApi,
  "mediaAssets",
  Effect.fnUntraced(function* (handlers) {
    const mediaAssets = yield* MediaAssets

    return handlers.handleAll({
      createMediaAsset: ({ payload }) =>
        forTenant((tenant, by) => mediaAssets.create(tenant, by, revised({}, payload))),

      listMediaAssets: ({ query }) =>
        forTenant((tenant) => mediaAssets.list(tenant, query, {}).pipe(orInvalidPage(query))),

      getMediaAsset: onRecord((tenant, id) => mediaAssets.find(tenant, id)),

      changeMediaAsset: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => mediaAssets.change(tenant, id, by, (settings) => revised(settings, payload))),

      archiveMediaAsset: onRecord((tenant, id, by) => Effect.flatMap(mediaAssets.archive(tenant, id, by), inUse)),

      restoreMediaAsset: onRecord((tenant, id, by) => mediaAssets.restore(tenant, id, by))
    })
  })
)

const inUse = orInUse({ record: "Media asset", code: "MEDIA_ASSET_IN_USE", users: "product(s)" })

/** The settings with the changes made. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateMediaAsset.Type | typeof ChangeMediaAsset.Type
): Settings =>
  // Every required setting is in the body of a creation, or stored already.
  withChanges<Settings>(settings, changes, Settings.fields, {}) as Settings
