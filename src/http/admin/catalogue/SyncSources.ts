/**
 * Sync sources on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../../domain/catalogue/SyncSource.ts"
import { SyncSources } from "../../../store/catalogue/SyncSources.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"
import { orInUse } from "../records/References.ts"
import type { ChangeSyncSource, CreateSyncSource } from "./SyncSourceApi.ts"

export const SyncSourceHandlers = HttpApiBuilder.group(
  AdminApi,
  "syncSources",
  Effect.fnUntraced(function* (handlers) {
    const syncSources = yield* SyncSources

    return handlers.handleAll({
      createSyncSource: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        return yield* syncSources.create(tenant, by, revised({}, payload))
      }, orServiceUnavailable),

      listSyncSources: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        const { syncStatus } = query
        return yield* syncSources.list(tenant, query, { syncStatus }).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getSyncSource: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* syncSources.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeSyncSource: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* syncSources.change(tenant, id, by, (settings) => revised(settings, payload))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveSyncSource: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* Effect.flatMap(syncSources.archive(tenant, id, by), inUse)
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreSyncSource: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* syncSources.restore(tenant, id, by)
        },
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

const inUse = orInUse({ record: "Sync source", code: "SYNC_SOURCE_IN_USE", users: "product(s) and variant(s)" })

/** The settings with the changes made. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateSyncSource.Type | typeof ChangeSyncSource.Type
): Settings =>
  // Every required setting is in the payload of a creation, or in what is there already.
  withChanges<Settings>(settings, changes, Settings.fields, {}) as Settings
