/** The layers the commands run on. */
import { Effect, Layer } from "effect"
import { Settings } from "../../settings/Settings.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import * as Logging from "./Logging.ts"
import { forceExit } from "./Signals.ts"

/** Settings, logging, and a time limit for a graceful shutdown. */
export const base = Layer.effectDiscard(
  Effect.flatMap(Settings, (settings) => Effect.forkDetach(forceExit(settings.shutdownTimeoutSeconds)))
).pipe(Layer.provideMerge(Logging.layer), Layer.provideMerge(Settings.layer))

/** The base with a database. Refuses a schema of another version. */
export const withDatabase = Migrations.layerRequired.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(base))

/** The base with a database that is migrated to this version's schema. */
export const withMigratedDatabase = Migrations.layer.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(base))
