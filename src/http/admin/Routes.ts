/** The Admin API as the server serves it: its declaration, its handlers and its description. */
import { Layer } from "effect"
import * as Credentials from "../credentials/Credentials.ts"
import * as Validation from "../errors/Validation.ts"
import * as IgnoredFields from "../fields/IgnoredFields.ts"
import * as Idempotency from "../idempotency/Idempotency.ts"
import { EventStreams } from "../streams/EventStreams.ts"
import * as LeanRoutes from "../server/LeanRoutes.ts"
import * as ServedFonts from "../server/ServedFonts.ts"
import * as ServedPictures from "../server/ServedPictures.ts"
import * as System from "../server/System.ts"
import { AdminApi } from "../../api/admin/AdminApi.ts"
import * as Handlers from "./records/Handlers.ts"

/** Live streams of the Admin API in one process. The limit keeps admins from using up the memory of the process. */
const adminStreamsMax = 1_000

const adminStreamsPerOrganization = 500

const adminStreams = {
  api: "admin",
  streamsMax: adminStreamsMax,
  perAddress: adminStreamsMax,
  perOrganization: adminStreamsPerOrganization
} as const

const callers = Layer.mergeAll(Validation.layer, Idempotency.layer, IgnoredFields.layer, Credentials.layerAdmin)
const streams = EventStreams.layerWith(adminStreams)

/** The handlers of all operations, which pages run in this process. */
export const handlers = Handlers.layer.pipe(Layer.provide(callers), Layer.provide(streams))

/** The routes of the admin listener. They need the database, the journal, the engine and the checks of keys. */
export const layer = Layer.mergeAll(
  LeanRoutes.layer(AdminApi).pipe(Layer.provide(Handlers.layer), Layer.provide(callers), Layer.provide(streams)),
  System.layer(AdminApi, "operators"),
  ServedPictures.layer,
  ServedFonts.layer
)
