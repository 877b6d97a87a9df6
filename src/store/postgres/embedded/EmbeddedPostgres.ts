/**
 * The embedded Postgres server, for operators who do not name an external one. It starts on first use under
 * `DATA_DIR`. A process adopts a server that a killed process left running. Processes with the same folder share the
 * server, and the last of them stops it.
 */
import { Context, Effect, Exit, FileSystem, Layer, Redacted, Result, Schedule, Scope } from "effect"
import { join, resolve } from "node:path"
import { Settings, StartRefused } from "../../../settings/Settings.ts"
import { findBinaries } from "./Binaries.ts"
import { checkOwn, readOwn } from "./OwnFiles.ts"
import * as Presence from "./Presence.ts"
import { chooseAccount } from "./ServerAccount.ts"
import { ensureCluster, folderAt, username } from "./ServerFolder.ts"
import { ready, type Startable, stop } from "./ServerProcess.ts"

/** How often a ready server may refuse a connection before the user gets the error; some 5 seconds. */
const enterAttemptsMax = 250

export class EmbeddedPostgres extends Context.Service<
  EmbeddedPostgres,
  {
    /** Where the server listens, and the user to connect as. The port stays the same while this process lives. */
    readonly host: string
    readonly port: number
    readonly database: string
    readonly username: string
    readonly password: Redacted.Redacted
  }
>()("usher/store/postgres/embedded/EmbeddedPostgres") {
  /** Provides a running server while the layer lives. Refuses if the server cannot run. */
  static readonly layer = Layer.effect(
    EmbeddedPostgres,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const server = yield* prepare(resolve(settings.dataDir))
  const password = Redacted.make(yield* readOwn(server.folder.password))
  const visitor = { password, applicationName: `usher ${settings.nodeName}: presence` }

  let current = yield* enter(server, visitor)
  const { port } = current
  yield* Effect.addFinalizer(() => Effect.suspend(() => leave(server, current)))

  // The server may end unexpectedly (killed, out of memory). It is then started again, on the same port.
  const keep = Effect.gen(function* () {
    yield* Presence.untilLost(current)
    yield* Effect.logWarning("The embedded Postgres is gone; starting it again")
    yield* Scope.close(current.scope, Exit.void)
    yield* enter(server, visitor).pipe(
      Effect.tap((presence) => Effect.sync(() => (current = presence))),
      Effect.uninterruptible,
      Effect.tapError((error) => Effect.logError("The embedded Postgres does not come back", error)),
      Effect.retry({ schedule: Schedule.spaced("1 second") })
    )
  })
  yield* Effect.forkScoped(Effect.forever(keep))

  return { host: "127.0.0.1", port, database: Presence.database, username, password }
}).pipe(
  // An interruption between the server's start and its finalizer would leave it running without a user.
  Effect.uninterruptible,
  Effect.catchTag("PlatformError", (error) => Effect.fail(unusableFolder(error)))
)

/** Finds the programs and an account to run them under, and creates the cluster if there is none. */
const prepare = Effect.fnUntraced(function* (dataDir: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const binaries = yield* findBinaries
  const folder = folderAt(join(dataDir, "postgres"))
  yield* fileSystem.makeDirectory(dataDir, { recursive: true })
  yield* checkOwn(folder)
  const account = yield* chooseAccount(binaries, dataDir, folder.root)
  yield* ensureCluster(folder, binaries, account)
  return { folder, binaries, account }
})

/** Connects to a ready server and takes a presence on it. Waits where another process is about to stop the server. */
const enter = Effect.fnUntraced(function* (server: Startable, visitor: Presence.Visitor) {
  for (let attempt = 1; ; attempt++) {
    const entered = yield* Effect.result(Presence.enter(yield* ready(server), visitor))
    if (Result.isSuccess(entered) && entered.success !== undefined) return entered.success
    if (Result.isFailure(entered) && attempt > enterAttemptsMax) {
      const { message } = entered.failure
      return yield* new StartRefused({
        message: `The embedded Postgres in ${server.folder.root} refuses Usher's connection: ${message}`
      })
    }
    yield* Effect.sleep("20 millis")
  }
})

/** Ends the presence, and stops the server if no other process uses it. */
const leave = (server: Startable, presence: Presence.Presence) =>
  Presence.isLast(presence).pipe(
    Effect.flatMap((last) => (last ? stop(server.folder) : Effect.void)),
    Effect.catch((error) => Effect.logWarning("The embedded Postgres was left running", error)),
    Effect.ensuring(Scope.close(presence.scope, Exit.void))
  )

const unusableFolder = (error: Error) =>
  new StartRefused({
    message:
      `DATA_DIR: the embedded Postgres cannot use its folder: ${error.message}. ` +
      "Correct its permissions, or set DATA_DIR to another folder."
  })
