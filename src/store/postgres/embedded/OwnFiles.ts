/**
 * The files of the embedded server's folder, opened without following symbolic links. Where Usher runs as root, the
 * folder belongs to an unprivileged account: an attacker with that account must not lead a write of root elsewhere.
 */
import { Effect } from "effect"
import { closeSync, constants, openSync, readFileSync, type Stats, writeFileSync } from "node:fs"
import { lstat } from "node:fs/promises"
import { StartRefused } from "../../../settings/Settings.ts"
import type { ServerFolder } from "./ServerFolder.ts"

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants

/** Reads a file. An empty text if there is none, or it is a link. */
export const readOwn = (path: string): Effect.Effect<string> =>
  Effect.orElseSucceed(
    Effect.try(() => {
      const file = openSync(path, O_RDONLY | O_NOFOLLOW)
      const text = readFileSync(file, "utf8")
      closeSync(file)
      return text
    }),
    () => ""
  )

/** Replaces the content of a file. Refuses a link. */
export const writeOwn = (path: string, text: string): Effect.Effect<void, StartRefused> =>
  Effect.try({
    try: () => {
      const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
      writeFileSync(file, text)
      closeSync(file)
    },
    catch: (error) => refused(path, `cannot be written: ${(error as Error).message}`)
  })

/** Opens a log to append to it, or to begin it again. Refuses a link. The caller closes it. */
export const openLog = (path: string, isBegunAgain: boolean): Effect.Effect<number, StartRefused> =>
  Effect.try({
    try: () => openSync(path, O_WRONLY | O_CREAT | (isBegunAgain ? O_TRUNC : O_APPEND) | O_NOFOLLOW, 0o600),
    catch: (error) => refused(path, `cannot be opened: ${(error as Error).message}`)
  })

/**
 * Refuses a folder of the server, or one of its files, that is a symbolic link, belongs to somebody else than the folder
 * or this process, or that others may change. A folder that does not exist yet is not refused.
 */
export const checkOwn = Effect.fnUntraced(function* ({ root, data, password, port, log, pid }: ServerFolder) {
  const folder = yield* statusOf(root)
  if (folder === undefined) return
  const owners = [folder.uid, process.geteuid?.() ?? folder.uid, 0]
  for (const path of [root, data, password, port, log, pid]) {
    const status = path === root ? folder : yield* statusOf(path)
    const problem = status && problemOf(status, path === root || path === data, owners)
    if (problem !== undefined) return yield* refused(path, problem)
  }
})

const problemOf = (status: Stats, isFolder: boolean, owners: ReadonlyArray<number>): string | undefined => {
  if (status.isSymbolicLink()) return "is a symbolic link"
  if (isFolder ? !status.isDirectory() : !status.isFile()) return `is no ${isFolder ? "folder" : "file"}`
  if (!owners.includes(status.uid)) return `belongs to user ${status.uid}`
  return (status.mode & 0o022) === 0 ? undefined : "can be changed by other users"
}

const statusOf = (path: string): Effect.Effect<Stats | undefined> =>
  Effect.orElseSucceed(
    Effect.tryPromise(() => lstat(path)),
    () => undefined
  )

const refused = (path: string, problem: string) =>
  new StartRefused({
    message: `DATA_DIR: ${path} ${problem}. Correct it, or set DATA_DIR to a folder of Usher's own.`
  })
