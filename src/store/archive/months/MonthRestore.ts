/** Brings the rows of an archived month back: all of them, or none if the file is damaged or the command is ended. */
import { Effect } from "effect"
import { damaged } from "../ArchiveFailed.ts"
import type { CopyConnection } from "../CopyConnection.ts"
import type { Table } from "../Manifest.ts"
import * as Tables from "../Tables.ts"
import { type Archive, archives, removeRows } from "./MonthRemoval.ts"
import { readMonth } from "./MonthReader.ts"
import { monthRefused } from "./MonthRefused.ts"

export interface Options {
  readonly path: string
  /** Called with the bytes of the file that were read since the last call. */
  readonly onBytes: (bytes: number) => void
}

/** Restores the month. Returns its archive, which the database then no longer has, and its mechanisms. */
export const restoreMonth = Effect.fnUntraced(function* (connection: CopyConnection, { path, onBytes }: Options) {
  const { sql } = connection
  const { manifest, sha256 } = yield* readMonth(path)
  const known: ReadonlyArray<Archive> = yield* archives(sql)
  const archive = known.find(({ id }) => id === manifest.id)
  if (archive === undefined || archive.manifestSha256 !== sha256) {
    return yield* monthRefused(
      `${path} is not an archive of this database, or it has been restored already. \`usher archive list\` shows which there are.`
    )
  }
  yield* refuseColumns(connection, path, manifest.tables)
  if (archive.removedAt === null) yield* removeRows(sql, archive, () => Effect.void)
  const mechanisms = yield* Effect.gen(function* () {
    yield* sql`set local maintenance_work_mem = '256MB'`
    const copyIn = (table: Table) => connection.copyIn(Tables.copy(table, "from stdin"))
    const read = yield* readMonth(path, { copyIn, onBytes })
    if (read.sha256 !== sha256) return yield* damaged("it changed while it was read")
    const rows = yield* sql<{ readonly id: string }>`
      delete from archived_journals where archive_id = ${archive.id} returning mechanism_id::text as id`
    yield* sql`delete from archives where id = ${archive.id}`
    return rows.map(({ id }) => id)
  }).pipe(sql.withTransaction)
  yield* sql`analyze journal`
  yield* sql`analyze places`
  return { archive, mechanisms }
})

/** Refuses an archive with columns that the tables no longer have. */
const refuseColumns = Effect.fnUntraced(function* (
  { sql }: CopyConnection,
  path: string,
  archived: ReadonlyArray<Table>
) {
  const own = yield* Tables.list(sql)
  for (const { name, columns } of archived) {
    const present = own.find((table) => table.name === name)?.columns ?? []
    const lacking = columns.filter((column) => !present.includes(column))
    if (lacking.length > 0) {
      return yield* monthRefused(`${path}: this version of Usher has no ${name}.${lacking.join(`, ${name}.`)}.`)
    }
  }
})
