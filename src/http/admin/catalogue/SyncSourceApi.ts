/** Sync sources on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Settings, SyncSource, SyncStatus } from "../../../domain/catalogue/SyncSource.ts"
import * as SyncSources from "../../../store/catalogue/SyncSources.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

/** The body of `POST /sync-sources`. */
export const CreateSyncSource = Schema.Struct(createFields(Settings.fields, ["syncSource", "syncSourceId"])).annotate({
  identifier: "CreateSyncSource"
})

/** The body of `PUT /sync-sources/{id}`. */
export const ChangeSyncSource = Schema.Struct(changeFields(Settings.fields, ["syncSource", "syncSourceId"])).annotate({
  identifier: "ChangeSyncSource"
})

const { create, list, get, change, archive, restore } = operationsOn({
  name: "SyncSource",
  aNoun: "a sync source",
  path: "sync-sources",
  record: SyncSource
})

export class SyncSourceApi extends HttpApiGroup.make("syncSources")
  .add(
    create({
      payload: CreateSyncSource,
      description:
        "A place that products and variants are synchronized from: `syncSource` is the system, `syncSourceId` the source's name there. Usher keeps what is said of it, and synchronizes nothing by itself."
    }),
    list({
      shape: SyncSources.shape,
      search: "`syncSource` and `syncSourceId`",
      only: { syncStatus: Schema.optionalKey(SyncStatus) },
      description: "All that are not archived, or those with one `syncStatus`."
    }),
    get(),
    change({
      payload: ChangeSyncSource,
      description: "Send the fields to change: one that is absent keeps its value, null takes an optional one away."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Answers the archived record. As long as a product or a variant has it as its primary one, it is refused (409 `SYNC_SOURCE_IN_USE`)."
    }),
    restore()
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Sync sources", description: "Where records of the catalogue are synchronized from." })
  ) {}
