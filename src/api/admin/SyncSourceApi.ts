/** Sync sources on the Admin API. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Settings, SyncSource, SyncStatus, syncSourceSorts } from "../../domain/catalogue/SyncSource.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

/** The body of `POST /sync-sources`. */
export const CreateSyncSource = Schema.Struct(createFields(Settings.fields, ["syncSource", "syncSourceId"])).annotate({
  identifier: "CreateSyncSource"
})

/** The body of `PUT /sync-sources/{id}`. */
export const ChangeSyncSource = Schema.Struct(changeFields(Settings.fields, ["syncSource", "syncSourceId"])).annotate({
  identifier: "ChangeSyncSource"
})

const syncSource = operationsOn(SyncSource, { name: "SyncSource", aNoun: "a sync source", path: "sync-sources" })

export class SyncSourceApi extends HttpApiGroup.make("syncSources")
  .add(
    syncSource.create({
      payload: CreateSyncSource,
      description:
        "A place from which products and variants are synchronized: `syncSource` is the system, `syncSourceId` the " +
        "source's name there. Usher stores this description only. It synchronizes nothing itself."
    }),
    syncSource.list({
      sorts: syncSourceSorts,
      search: "`syncSource` and `syncSourceId`",
      only: { syncStatus: Schema.optionalKey(SyncStatus) },
      description: "Lists sync sources that are not archived, or those with one `syncStatus`."
    }),
    syncSource.get(),
    syncSource.change({
      payload: ChangeSyncSource,
      description: "Send only the fields to change. An absent field keeps its value; null removes an optional one."
    }),
    syncSource.archive({
      error: [NotFound, Conflict],
      description:
        "Returns the archived record. It is refused while it is the primary sync source of a product or a variant (409 " +
        "`SYNC_SOURCE_IN_USE`)."
    }),
    syncSource.restore()
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Sync sources",
      description: "The systems from which records of the catalogue are synchronized."
    })
  ) {}
