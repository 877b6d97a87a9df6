/** Reads the archive of a month, and compares all of it with its digests. */
import { Effect, Option, Sink, Stream } from "effect"
import { createHash } from "node:crypto"
import { type ArchiveDamaged, damaged } from "../ArchiveFailed.ts"
import { entries, type Entry } from "../ArchiveReader.ts"
import type { CopyIn } from "../CopyConnection.ts"
import { Loading } from "../Loading.ts"
import { manifestName, type Table } from "../Manifest.ts"
import {
  archivedTables,
  decodeMonthIntroduction,
  decodeMonthManifest,
  type MonthIntroduction,
  monthIntroductionName
} from "./MonthManifest.ts"

export interface Reading {
  /** Where the rows go. Absent: nowhere, they are only compared. */
  readonly copyIn?: (table: Table) => CopyIn
  /** Called with the bytes of the file that were read since the last call. */
  readonly onBytes?: (bytes: number) => void
}

/** Reads the file. Returns its manifest, and the manifest's SHA-256. */
export const readMonth = Effect.fnUntraced(function* (path: string, { copyIn = count, onBytes }: Reading = {}) {
  const archive = yield* entries(path, onBytes ?? (() => undefined))
  const [first, others] = yield* Stream.peel(archive, Sink.head<Entry>())
  const introduction = yield* introductionOf(Option.getOrUndefined(first))
  const loading = new Loading(
    {
      introductionName: monthIntroductionName,
      decodeManifest: decodeMonthManifest,
      tables: introduction.tables,
      copyIn
    },
    Option.getOrThrow(first)
  )
  let sha256 = ""
  yield* Stream.runForEach(others, (entry) => {
    if (entry.name === manifestName) sha256 = createHash("sha256").update(entry.content).digest("hex")
    return loading.take(entry)
  }).pipe(Effect.onError(() => loading.abandon))
  return { manifest: yield* loading.end, sha256 }
}, Effect.scoped)

const introductionOf = (entry: Entry | undefined): Effect.Effect<MonthIntroduction, ArchiveDamaged> => {
  if (entry?.name !== monthIntroductionName) return damaged(`it does not begin with ${monthIntroductionName}`)
  const introduction = Option.getOrUndefined(decodeMonthIntroduction(entry.content.toString("utf8")))
  if (introduction === undefined) return damaged(`${monthIntroductionName} cannot be read`)
  const names = introduction.tables.map(({ name }) => name).join()
  return names === archivedTables.join() ? Effect.succeed(introduction) : damaged(`it has other tables: ${names}`)
}

/** Counts rows: each ends with a line feed, and a line feed in a value is escaped. */
const count = (): CopyIn => {
  let rows = 0
  return {
    write: (text) =>
      Effect.sync(() => {
        for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) rows += 1
      }),
    end: Effect.sync(() => rows),
    abandon: Effect.void
  }
}
