/** The handlers of sync sources on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/SyncSource.ts"
import { SyncSources } from "../../../store/catalogue/SyncSources.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"
import { orInUse } from "../records/References.ts"

export const SyncSourceHandlers = HttpApiBuilder.group(AdminApi, "syncSources", (handlers) =>
  Effect.map(SyncSources, (syncSources) =>
    handlers.handleAll({
      createSyncSource: ({ payload }) =>
        forTenant((tenant, by) => syncSources.create(tenant, by, revised({}, payload))),

      listSyncSources: onList((tenant, query) => syncSources.list(tenant, query, { syncStatus: query.syncStatus })),

      getSyncSource: onRecord(syncSources.find),

      changeSyncSource: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => syncSources.change(tenant, id, by, (settings) => revised(settings, payload))),

      archiveSyncSource: onRecord((tenant, id, by) => Effect.flatMap(syncSources.archive(tenant, id, by), inUse)),

      restoreSyncSource: onRecord(syncSources.restore)
    })
  )
)

const inUse = orInUse({ record: "Sync source", code: "SYNC_SOURCE_IN_USE", users: "product(s) and variant(s)" })

const revised = revising<Settings>(Settings.fields)
