/**
 * Writes a backup: every table as one snapshot sees it, by COPY. Servers may run meanwhile; the snapshot blocks no
 * write. Sealed secrets stay sealed, and the key that seals them authenticates the file.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import { createHash } from "node:crypto"
import { stat } from "node:fs/promises"
import { StartRefused } from "../../settings/Settings.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { type ArchiveFailed, attempt } from "./ArchiveFailed.ts"
import { authenticated } from "./Authentication.ts"
import { ArchiveWriter } from "./ArchiveWriter.ts"
import * as CopyConnection from "./CopyConnection.ts"
import {
  type CopiedTable,
  format,
  type Introduction,
  introductionName,
  type Manifest,
  manifestName,
  sumsName,
  type Table
} from "./Manifest.ts"
import * as Recorded from "./Recorded.ts"
import * as Tables from "./Tables.ts"

export interface Options {
  /** The path of the file, which must not exist. */
  readonly path: string
  /** The version of Usher. */
  readonly usher: string
  /** Runs once, with the bytes of all tables on disk, which is about the work ahead. */
  readonly onBegun: (bytes: number) => void
  /** Runs with the bytes of text that were copied since the last call. */
  readonly onBytes: (bytes: number) => Effect.Effect<void>
}

/** The result of a backup. */
export interface Summary {
  readonly manifest: Manifest
  /** Bytes of the file's content. */
  readonly size: number
}

/** Writes the backup, and records its instant in the database. */
export const backup = (options: Options): Effect.Effect<Summary, StartRefused, PgClient.PgClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { path } = options
    yield* refuseExisting(path)
    const connection = yield* CopyConnection.open
    const writer = yield* ArchiveWriter.open(path)
    const manifest = yield* write(connection, writer, options)
    yield* writer.complete
    yield* Effect.ignore(record(manifest.at))
    return { manifest, size: writer.size }
  }).pipe(
    Effect.catchTags({
      SqlError: (error) => refuse(`The database failed, and the partial file was removed: ${error.message}`),
      ArchiveFailed: (error) => refuse(problemOf(options.path, error))
    })
  )

const refuseExisting = (path: string) =>
  attempt(() => stat(path)).pipe(
    Effect.isSuccess,
    Effect.flatMap((exists) =>
      exists ? refuse(`${path} exists. Name a file that does not, or remove it.`) : Effect.void
    )
  )

const write = Effect.fnUntraced(function* (
  { sql, copyOut }: CopyConnection.CopyConnection,
  writer: ArchiveWriter,
  { usher, onBegun, onBytes }: Options
) {
  yield* sql`begin transaction isolation level repeatable read, read only`
  const [row] = yield* sql<SnapshotRow>`
    select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      (select max(migration_id) from usher_migrations) as step`
  const { at, step } = row!
  const heads = yield* Recorded.expected(sql)
  const tables = yield* Tables.list(sql)
  const introduction = { format, usher, schemaStep: step, at }
  onBegun(yield* Tables.bytes(sql))
  const sums: Array<string> = []
  const addJson = (name: string, value: Introduction | Manifest) => {
    const text = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    sums.push(`${createHash("sha256").update(text).digest("hex")}  ${name}\n`)
    return writer.add(name, text)
  }
  const addTable = Effect.fnUntraced(function* (table: Table) {
    const { text, rows } = copyOut(Tables.copy(table, "to stdout"))
    const written = yield* writer.addTable(table.name, text, onBytes)
    return { ...table, rows: rows(), ...written } satisfies CopiedTable
  })

  yield* addJson(introductionName, { ...introduction, tables })
  const copied = yield* Effect.forEach(tables, addTable)
  const manifest = authenticated(yield* CurrentKeyring, { ...introduction, tables: copied, heads })
  yield* addJson(manifestName, manifest)
  yield* writer.add(sumsName, Buffer.from(sums.join("")))
  yield* sql`commit`
  return manifest
})

interface SnapshotRow {
  readonly at: string
  readonly step: number
}

/** The age of the last backup is a measure. */
const record = (at: string) =>
  Effect.flatMap(
    PgClient.PgClient,
    (sql) => sql`update installation set backup_at = greatest(backup_at, ${at}::timestamptz)`
  )

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

const problemOf = (path: string, error: ArchiveFailed): string => {
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return `${path}: the disk is full. Free some space, or name a file on another disk. The partial file was removed.`
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `${path}: this user may not write there. Name a file in another folder.`
    case "ENOENT":
    case "ENOTDIR":
      return `${path}: there is no such folder. Make it, or name a file in another one.`
    case "EISDIR":
      return `${path} is a folder. Name a file.`
    default:
      return `The backup failed, and its partial file was removed: ${error.message}`
  }
}
