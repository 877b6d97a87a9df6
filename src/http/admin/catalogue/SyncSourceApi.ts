/** Sync sources on the Admin API: the declaration (completions 4, "Catalogue"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Settings, SyncSource, SyncStatus } from "../../../domain/catalogue/SyncSource.ts"
import { Id } from "../../../domain/values/Ids.ts"
import * as SyncSources from "../../../store/catalogue/SyncSources.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { archivedQuery, restores } from "../records/Restoring.ts"

/** The body of `POST /sync-sources`. */
export const CreateSyncSource = Schema.Struct(createFields(Settings.fields, ["syncSource", "syncSourceId"])).annotate({
  identifier: "CreateSyncSource"
})

/** The body of `PUT /sync-sources/{id}`. */
export const ChangeSyncSource = Schema.Struct(changeFields(Settings.fields, ["syncSource", "syncSourceId"])).annotate({
  identifier: "ChangeSyncSource"
})

const params = { id: Id }

export class SyncSourceApi extends HttpApiGroup.make("syncSources")
  .add(
    HttpApiEndpoint.post("createSyncSource", "/sync-sources", {
      payload: CreateSyncSource,
      success: SyncSource.pipe(HttpApiSchema.status(201))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a sync source",
        description:
          "A place that products and variants are synchronized from: `syncSource` is the system, `syncSourceId` the source's name there. Usher keeps what is said of it, and synchronizes nothing by itself."
      })
    ),
    HttpApiEndpoint.get("listSyncSources", "/sync-sources", {
      query: {
        ...listQuery(SyncSources.shape),
        ...searchQuery("`syncSource` and `syncSourceId`"),
        ...archivedQuery,
        syncStatus: Schema.optionalKey(SyncStatus)
      },
      success: pageOf(SyncSource).annotate({ identifier: "SyncSourcePage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List sync sources",
        description: "All that are not archived, or those with one `syncStatus`."
      })
    ),
    HttpApiEndpoint.get("getSyncSource", "/sync-sources/:id", {
      params,
      success: SyncSource,
      error: NotFound
    }).annotateMerge(OpenApi.annotations({ summary: "Get a sync source" })),
    HttpApiEndpoint.put("changeSyncSource", "/sync-sources/:id", {
      params,
      payload: ChangeSyncSource,
      success: SyncSource,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a sync source",
        description: "Send the fields to change: one that is absent keeps its value, null takes an optional one away."
      })
    ),
    HttpApiEndpoint.delete("archiveSyncSource", "/sync-sources/:id", {
      params,
      success: SyncSource,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive a sync source",
        description:
          "Answers the archived record. As long as a product or a variant has it as its primary one, it is refused (409 `SYNC_SOURCE_IN_USE`)."
      })
    ),
    HttpApiEndpoint.post("restoreSyncSource", "/sync-sources/:id/restore", {
      params,
      success: SyncSource,
      error: NotFound
    }).annotateMerge(restores({ aNoun: "a sync source" }))
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Sync sources", description: "Where records of the catalogue are synchronized from." })
  ) {}
