/**
 * Media assets on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/MediaAsset.ts"
import { MediaAssets } from "../../../store/catalogue/MediaAssets.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"
import { orInUse } from "../records/References.ts"
import type { ChangeMediaAsset, CreateMediaAsset } from "./MediaAssetApi.ts"

export const MediaAssetHandlers = HttpApiBuilder.group(
  AdminApi,
  "mediaAssets",
  Effect.fnUntraced(function* (handlers) {
    const mediaAssets = yield* MediaAssets

    return handlers.handleAll({
      createMediaAsset: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        return yield* mediaAssets.create(tenant, by, revised({}, payload))
      }, orServiceUnavailable),

      listMediaAssets: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* mediaAssets.list(tenant, query, {}).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getMediaAsset: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* mediaAssets.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeMediaAsset: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* mediaAssets.change(tenant, id, by, (settings) => revised(settings, payload))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveMediaAsset: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* Effect.flatMap(mediaAssets.archive(tenant, id, by), inUse)
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreMediaAsset: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* mediaAssets.restore(tenant, id, by)
        },
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

const inUse = orInUse({ record: "Media asset", code: "MEDIA_ASSET_IN_USE", users: "product(s)" })

/** The settings with the changes made. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateMediaAsset.Type | typeof ChangeMediaAsset.Type
): Settings =>
  // Every required setting is in the payload of a creation, or in what is there already.
  withChanges<Settings>(settings, changes, Settings.fields, {}) as Settings
