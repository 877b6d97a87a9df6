/** The layers the commands run on. */
import { Effect, Layer } from "effect"
import { Settings } from "../../settings/Settings.ts"
import { DatabaseClock } from "../../store/coordination/DatabaseClock.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import * as CurrentKeyring from "../../store/secrets/CurrentKeyring.ts"
import * as SealedSecrets from "../../store/secrets/SealedSecrets.ts"
import * as Logging from "./Logging.ts"
import { forceExit } from "./Signals.ts"

/** Settings, logging, and a time limit for a graceful shutdown. */
export const base = Layer.effectDiscard(
  Effect.flatMap(Settings, (settings) => Effect.forkDetach(forceExit(settings.shutdownTimeoutSeconds)))
).pipe(Layer.provideMerge(Logging.layer), Layer.provideMerge(Settings.layer))

/** The base with a database. Refuses a schema of another version, and secrets that this process cannot open. */
export const withDatabase = SealedSecrets.layerReadable.pipe(
  Layer.provideMerge(Migrations.layerRequired),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(CurrentKeyring.layer),
  Layer.provideMerge(base)
)

/** The base with a database, for services that notify the running servers. */
export const withNotifications = Layer.provideMerge(Invalidations.layer, withDatabase)

/**
 * The base with a database that is migrated to this version's schema, and whose secrets are sealed if there is a key. The
 * time is the database's, once a heartbeat has read it.
 */
export const withMigratedDatabase = SealedSecrets.layerSealed.pipe(
  Layer.provideMerge(Migrations.layer),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(CurrentKeyring.layer),
  Layer.provideMerge(base),
  Layer.provideMerge(DatabaseClock.layer)
)
