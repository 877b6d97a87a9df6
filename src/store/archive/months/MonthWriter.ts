/** Writes the archive of a month, and reads it back. Removes nothing. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { attempt, damaged } from "../ArchiveFailed.ts"
import { ArchiveWriter } from "../ArchiveWriter.ts"
import type { CopyConnection } from "../CopyConnection.ts"
import { type CopiedTable, manifestName, sumsName, type Table } from "../Manifest.ts"
import * as Tables from "../Tables.ts"
import type { Month } from "./Month.ts"
import {
  archivedTables,
  format,
  type MonthIntroduction,
  monthIntroductionName,
  type MonthManifest
} from "./MonthManifest.ts"
import { hindranceOf, stateOf, stored } from "./MonthPlan.ts"
import { monthRefused } from "./MonthRefused.ts"
import { readMonth } from "./MonthReader.ts"

export interface Options {
  readonly month: Month
  /** The folder of the file. */
  readonly folder: string
  /** The version of Usher. */
  readonly usher: string
  /** Runs with the bytes of text that were copied since the last call. */
  readonly onBytes: (bytes: number) => Effect.Effect<void>
}

/** A complete archive. */
export interface WrittenMonth {
  readonly manifest: MonthManifest
  readonly path: string
  /** The SHA-256 of the manifest, by which the database knows the file again. */
  readonly sha256: string
  /** Bytes of the file's content. */
  readonly size: number
}

export const pathOf = (folder: string, month: Month): string => join(folder, `usher-${month}.tar`)

/**
 * Writes the file from one snapshot, waits until it is on disk, and compares all of it with its digests. Refuses a month
 * that cannot go, one whose journals are incomplete, and a file that exists.
 */
export const writeMonth = Effect.fnUntraced(function* (connection: CopyConnection, options: Options) {
  const { month, folder } = options
  const path = pathOf(folder, month)
  if (yield* Effect.isSuccess(attempt(() => stat(path)))) {
    return yield* monthRefused(`${path} exists. Move it away, or name another folder with --to.`)
  }
  const writer = yield* ArchiveWriter.open(path)
  const { manifest, sha256 } = yield* write(connection, writer, options)
  yield* writer.complete
  const read = yield* readMonth(path)
  if (read.sha256 !== sha256) return yield* damaged("it differs from what was written")
  return { manifest, path, sha256, size: writer.size } satisfies WrittenMonth
}, Effect.scoped)

const write = Effect.fnUntraced(function* (
  { sql, copyOut }: CopyConnection,
  writer: ArchiveWriter,
  { month, usher, onBytes }: Options
) {
  yield* sql`begin transaction isolation level repeatable read, read only`
  const state = yield* stateOf(sql, month)
  const hindrance = hindranceOf(state)
  if (hindrance !== undefined) return yield* monthRefused(`${month}: ${hindrance}`)
  const [row] = yield* sql<{ readonly id: string; readonly at: string; readonly step: number }>`
    select gen_random_uuid()::text as id, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      (select max(migration_id) from usher_migrations) as step`
  const { id, at, step } = row!
  const tables = (yield* Tables.list(sql)).filter(({ name }) => archivedTables.some((archived) => archived === name))
  const introduction: MonthIntroduction = { format, id, month, usher, schemaStep: step, at, tables }
  const sums: Array<string> = []
  const addJson = Effect.fnUntraced(function* (name: string, value: MonthIntroduction | MonthManifest) {
    const text = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    const sha256 = createHash("sha256").update(text).digest("hex")
    sums.push(`${sha256}  ${name}\n`)
    yield* writer.add(name, text)
    return sha256
  })
  const addTable = Effect.fnUntraced(function* (table: Table) {
    const { text, rows } = copyOut(Tables.copySelected(table, ownRows(month)))
    const written = yield* writer.addTable(table.name, text, onBytes)
    return { ...table, rows: rows(), ...written } satisfies CopiedTable
  })

  yield* addJson(monthIntroductionName, introduction)
  const copied = yield* Effect.forEach(tables, addTable)
  const rowsOf = (table: (typeof archivedTables)[number]) => copied.find(({ name }) => name === table)!.rows
  const { mechanisms, events } = state
  if (rowsOf("journal") !== events) {
    return yield* monthRefused(
      `${month}: its journals have ${rowsOf("journal")} events, and their heads say ${events}. Run \`usher verify-journal\`.`
    )
  }
  const manifest = { ...introduction, tables: copied, mechanisms, events, places: rowsOf("places") }
  const sha256 = yield* addJson(manifestName, manifest)
  yield* writer.add(sumsName, Buffer.from(sums.join("")))
  yield* sql`commit`
  return { manifest, sha256 }
})

/** The rows `t` of a table that belong to the month. */
const ownRows = (month: Month): string => `join mechanisms m on m.id = t.mechanism_id where ${stored(month)}`
