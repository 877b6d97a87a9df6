/**
 * Chooses the account that the embedded Postgres runs under. Postgres refuses to run as root, so a root process
 * starts it under an unprivileged account: the owner of the server's folder, else `postgres`, else `nobody`.
 *
 * That account may be unable to reach the folder or the programs, because a parent folder such as `/root` is closed.
 * The server is then started inside a user namespace. There it appears to run as the unprivileged account, but to the
 * file system it is still root, so no permissions need to change.
 */
import { Effect, FileSystem, Option } from "effect"
import { execFile } from "node:child_process"
import { dirname } from "node:path"
import { StartRefused } from "../../../settings/Settings.ts"
import type { Binaries } from "./Binaries.ts"

/** The account of a server process. `Own` is this process's account. */
export type ServerAccount =
  | { readonly _tag: "Own" }
  | { readonly _tag: "Other"; readonly uid: number; readonly gid: number }
  | { readonly _tag: "Namespace"; readonly uid: number; readonly gid: number }

/** A command line with the credentials to start it under. */
export interface ServerCommand {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly options: { readonly uid?: number; readonly gid?: number; readonly env: Record<string, string> }
}

/** The environment of server processes. It contains nothing of this process's environment, which may hold secrets. */
const environment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" }

/** Returns the command line that runs a program under an account. */
export const commandFor = (account: ServerAccount, program: string, args: ReadonlyArray<string>): ServerCommand => {
  switch (account._tag) {
    case "Own":
      return { command: program, args, options: { env: environment } }
    case "Other":
      return { command: program, args, options: { uid: account.uid, gid: account.gid, env: environment } }
    case "Namespace": {
      const mapping = ["--user", `--map-user=${account.uid}`, `--map-group=${account.gid}`]
      return { command: "unshare", args: [...mapping, program, ...args], options: { env: environment } }
    }
  }
}

/** Runs a program under an account until it ends. Never fails. */
export const runAs = (
  account: ServerAccount,
  program: string,
  args: ReadonlyArray<string>
): Effect.Effect<{ readonly succeeded: boolean; readonly output: string }> =>
  Effect.callback((resume) => {
    const { command, args: allArgs, options } = commandFor(account, program, args)
    const child = execFile(command, allArgs, { ...options, encoding: "utf8" }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim()
      resume(Effect.succeed({ succeeded: error === null, output: output === "" ? (error?.message ?? "") : output }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const own: ServerAccount = { _tag: "Own" }

/**
 * Chooses the account. `serverFolder` is where the server's files are or will be; it need not exist. Refuses if no
 * account can run the server, and names the folder that is closed.
 */
export const chooseAccount = Effect.fnUntraced(function* (binaries: Binaries, dataDir: string, serverFolder: string) {
  const ownUid = process.geteuid?.() ?? 0
  const fileSystem = yield* FileSystem.FileSystem
  const owner = yield* fileSystem.stat(serverFolder).pipe(
    Effect.map((info) => ({ uid: Option.getOrElse(info.uid, () => ownUid), gid: Option.getOrElse(info.gid, () => 0) })),
    Effect.option
  )

  if (ownUid !== 0) {
    if (Option.isNone(owner) || owner.value.uid === ownUid) return own
    return yield* new StartRefused({
      message:
        `DATA_DIR: ${serverFolder} belongs to user ${owner.value.uid}, but this process runs as user ${ownUid}. ` +
        "Start Usher as that user (or as root), or set DATA_DIR to another folder."
    })
  }

  const unprivileged = Option.isSome(owner) && owner.value.uid !== 0 ? owner.value : yield* unprivilegedAccount
  const other: ServerAccount = { _tag: "Other", ...unprivileged }
  const namespace: ServerAccount = { _tag: "Namespace", ...unprivileged }
  // The folder's owner is the account the server ran under before. Root means that it was started in a namespace.
  const ownedByRoot = Option.isSome(owner) && owner.value.uid === 0
  if (!ownedByRoot && (yield* canRun(other, binaries, dataDir))) return other
  const namespaceSuits = Option.isNone(owner) || ownedByRoot
  if (namespaceSuits && (yield* canRun(namespace, binaries, dataDir))) return namespace

  const closed = yield* closedFolder([dataDir, dirname(binaries.postgres)])
  return yield* new StartRefused({
    message:
      `Postgres does not run as root, and user ${unprivileged.uid}, under which it would run, cannot enter ${closed}. ` +
      `Start Usher as an ordinary user, allow access (chmod o+x ${closed}), set DATA_DIR to a folder such as ` +
      "/var/lib/usher, or set DATABASE_URL to a Postgres server of your own."
  })
})

/** Tests whether the account can enter the folder and run the programs, by doing it. */
const canRun = (account: ServerAccount, binaries: Binaries, folder: string) =>
  runAs(account, "/bin/sh", ["-c", 'cd "$1" && exec "$2" --version', "sh", folder, binaries.postgres]).pipe(
    Effect.map((result) => result.succeeded)
  )

const unprivilegedAccount = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const lines = (yield* fileSystem.readFileString("/etc/passwd").pipe(Effect.orElseSucceed(() => ""))).split("\n")
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? []
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  return yield* new StartRefused({
    message:
      "Postgres does not run as root, and this machine has neither a user `postgres` nor `nobody` to run it as. " +
      "Start Usher as an ordinary user, or set DATABASE_URL to a Postgres server of your own."
  })
})

/** Returns the outermost folder on the way to one of the paths that other users may not enter. */
const closedFolder = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const fileSystem = yield* FileSystem.FileSystem
  for (const path of paths) {
    const parts = path.split("/")
    for (let length = 2; length <= parts.length; length++) {
      const folder = parts.slice(0, length).join("/")
      const mode = yield* fileSystem.stat(folder).pipe(
        Effect.map((info) => info.mode),
        Effect.orElseSucceed(() => 0o777)
      )
      if ((mode & 0o001) === 0) return folder
    }
  }
  return paths[0] ?? "/"
})
