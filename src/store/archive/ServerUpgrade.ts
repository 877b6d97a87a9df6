/**
 * Moves the embedded server's data to another major version of Postgres: from the former programs' server into a new
 * cluster by a backup and a restore. The former cluster is kept. Until the last two renames nothing of it changes, so a
 * killed upgrade can be repeated; after the first of them the next start completes the second (`ServerFolder.ts`).
 */
import { Effect, FileSystem, Layer, Redacted, Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { basename, join, resolve } from "node:path"
import { StartRefused } from "../../settings/Settings.ts"
import { Availability } from "../coordination/Availability.ts"
import * as Installation from "../coordination/Installation.ts"
import * as Database from "../postgres/Database.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Binaries, findBinaries, majorVersion } from "../postgres/embedded/Binaries.ts"
import { checkOwn, readOwn } from "../postgres/embedded/OwnFiles.ts"
import * as Presence from "../postgres/embedded/Presence.ts"
import { chooseAccount, runAs } from "../postgres/embedded/ServerAccount.ts"
import {
  ensureCluster,
  folderAt,
  majorOf,
  type ServerFolder,
  upgradedName,
  username
} from "../postgres/embedded/ServerFolder.ts"
import { ready, type Startable, stop } from "../postgres/embedded/ServerProcess.ts"
import { backup } from "./Backup.ts"
import type { Manifest } from "./Manifest.ts"
import { restore } from "./Restore.ts"

export interface Options<R> {
  readonly dataDir: string
  /** The folder with the programs of the former major version. */
  readonly oldBinaries: string
  /** The version of Usher. */
  readonly usher: string
  /** Compares the copy's projections with its journals. Its failure ends the upgrade. */
  readonly verify: Effect.Effect<void, StartRefused | SqlError | Unavailable, R>
  readonly onStep: (step: string) => Effect.Effect<void>
}

/** Upgrades the server. Returns what was copied, and where the former cluster is. */
export const upgradeServer = Effect.fnUntraced(
  function* <R>({ dataDir, oldBinaries, usher, verify, onStep }: Options<R>) {
    const fileSystem = yield* FileSystem.FileSystem
    const root = resolve(dataDir)
    const folder = folderAt(join(root, "postgres"))
    yield* checkOwn(folder)
    const major = yield* majorOf(folder)
    if (major === undefined) return yield* refuse(`DATA_DIR: ${folder.data} has no data of an embedded Postgres.`)
    if (major === `${majorVersion}`) return undefined

    const former = yield* formerServer(folder, root, resolve(oldBinaries), major)
    const binaries = yield* findBinaries
    const copyFolder = folderAt(join(root, upgradedName))
    const copy: Startable = { folder: copyFolder, binaries, account: yield* chooseAccount(binaries, root, folder.root) }
    const file = join(root, "upgrade.tar")
    const discard = Effect.forEach([copyFolder.root, file, `${file}.partial`], (path) =>
      Effect.ignore(fileSystem.remove(path, { recursive: true, force: true }))
    )
    yield* discard

    yield* onStep(`Starting Postgres ${major} and writing a backup`)
    const timeline = yield* onServer(
      former,
      Effect.gen(function* () {
        yield* backup({ path: file, usher, onBegun: () => undefined, onBytes: () => Effect.void })
        return (yield* Installation.read).timeline
      })
    )
    yield* onStep(`Restoring it into Postgres ${majorVersion}, and verifying every journal`)
    const manifest = yield* onServer(
      copy,
      Effect.gen(function* () {
        const manifest = yield* restore({ path: file, isUnverifiedAllowed: false, onBytes: () => undefined })
        yield* verify
        yield* Installation.keepTimeline(timeline)
        return manifest
      }),
      Effect.ignore(ensureCluster(copyFolder, binaries, copy.account))
    ).pipe(Effect.onError(() => discard))

    const kept = join(root, `postgres.old-${major}`)
    yield* fileSystem.rename(folder.root, kept)
    yield* fileSystem.rename(copyFolder.root, folder.root)
    yield* Effect.ignore(fileSystem.remove(file))
    return { manifest, kept } satisfies { readonly manifest: Manifest; readonly kept: string }
  },
  Effect.catchTags({
    PlatformError: (error) => refuse(`DATA_DIR: the upgrade failed, and the data is as it was: ${error.message}`),
    SqlError: (error) => refuse(`The database failed, and the data is as it was: ${error.message}`),
    Unavailable: ({ cause }) => refuse(`The database failed, and the data is as it was: ${String(cause)}`)
  })
)

/** Finds the programs of the former major version in their folder. */
const formerServer = Effect.fnUntraced(function* (folder: ServerFolder, root: string, programs: string, major: string) {
  const binaries: Binaries = {
    initdb: join(programs, "initdb"),
    postgres: join(programs, "postgres"),
    packageName: basename(programs)
  }
  const version = yield* runAs({ _tag: "Own" }, binaries.postgres, ["--version"])
  const found = /\(PostgreSQL\) (\d+)/.exec(version.output)?.[1]
  if (found === undefined) {
    return yield* refuse(`--old-binaries: ${programs} has no program \`postgres\` that runs here: ${version.output}`)
  }
  if (found !== major) {
    return yield* refuse(
      `--old-binaries: ${programs} has Postgres ${found}, but ${folder.data} was made by Postgres ${major}. Name the folder of Postgres ${major}.`
    )
  }
  return { folder, binaries, account: yield* chooseAccount(binaries, root, folder.root) } satisfies Startable
})

/** Runs an effect on a server that no other process uses, and stops the server. */
const onServer = <A, E, R>(
  server: Startable,
  effect: Effect.Effect<A, E, R>,
  prepare: Effect.Effect<void, never, FileSystem.FileSystem> = Effect.void
) =>
  Effect.gen(function* () {
    yield* prepare
    const port = yield* ready(server)
    const password = Redacted.make(yield* readOwn(server.folder.password))
    yield* Effect.addFinalizer(() => Effect.ignore(stop(server.folder)))
    yield* refuseShared(port, { password, applicationName: "usher database upgrade" })
    const target = { host: "127.0.0.1", port, database: Presence.database, username, password }
    const database = Database.layerAt(target, `the Postgres in ${server.folder.root}`)
    return yield* Effect.provide(effect, Layer.provideMerge(database, Availability.layer))
  }).pipe(Effect.scoped)

/** Refuses a server that another process uses, and keeps others from it while the scope lives. */
const refuseShared = Effect.fnUntraced(function* (port: number, visitor: Presence.Visitor) {
  const presence = yield* Presence.enter(port, visitor)
  if (presence !== undefined) yield* Effect.addFinalizer((exit) => Scope.close(presence.scope, exit))
  if (presence === undefined || !(yield* Presence.isLast(presence))) {
    return yield* refuse("Another process of Usher uses the data. End it first.")
  }
})

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))
