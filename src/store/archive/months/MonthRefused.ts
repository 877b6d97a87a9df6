/** Why a month is not archived, or an archive not restored, as a text for the operator. */
import { Effect } from "effect"
import { StartRefused } from "../../../settings/Settings.ts"
import type { ArchiveFailed } from "../ArchiveFailed.ts"

export const monthRefused = (message: string) => Effect.fail(new StartRefused({ message }))

/** Returns the text for a failure of the machine, at a file. */
export const problemOf = (path: string, error: ArchiveFailed): string => {
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return `${path}: the disk is full. The partial file was removed. Free some space, or name another folder.`
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `${path}: this user may not use it.`
    case "ENOENT":
    case "ENOTDIR":
      return `${path}: there is no such file or folder.`
    case "EISDIR":
      return `${path} is a folder. Name a file.`
    default:
      return `${path}: ${error.message}`
  }
}
