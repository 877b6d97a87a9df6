/**
 * What the commands run on.
 */
import { Effect, Layer } from "effect"
import { Settings } from "../../settings/Settings.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import * as Logging from "./Logging.ts"
import { forceExit } from "./Signals.ts"

/** The settings, logging as they say, and a bound on how long an orderly end may take. */
export const base = Layer.effectDiscard(
  Effect.flatMap(Settings, (settings) => Effect.forkDetach(forceExit(settings.shutdownTimeoutSeconds)))
).pipe(Layer.provideMerge(Logging.layer), Layer.provideMerge(Settings.layer))

/** The same with a database whose schema must be this version's. */
export const withDatabase = Migrations.layerRequired.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(base))

/** The same with a database whose schema is brought up to date. */
export const withMigratedDatabase = Migrations.layer.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(base))
