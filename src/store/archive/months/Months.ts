/**
 * Moves the journals and places of past months from the database to files, and back. Servers may run meanwhile: no
 * process reads the journal of a mechanism that is over. Heads and records stay, so an archived mechanism is listed as
 * before.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { StartRefused } from "../../../settings/Settings.ts"
import type { Unavailable } from "../../postgres/Unavailable.ts"
import * as Upgrade from "../../postgres/Upgrade.ts"
import type { ArchiveDamaged, ArchiveFailed } from "../ArchiveFailed.ts"
import * as CopyConnection from "../CopyConnection.ts"
import { type Month, monthOf } from "./Month.ts"
import { hindranceOf, type MonthState, months, stateOf } from "./MonthPlan.ts"
import { monthRefused, problemOf } from "./MonthRefused.ts"
import { type Archive, archives, note, removeRows } from "./MonthRemoval.ts"
import { readMonth } from "./MonthReader.ts"
import { restoreMonth } from "./MonthRestore.ts"
import { pathOf, writeMonth, type WrittenMonth } from "./MonthWriter.ts"
import * as Time from "../../coordination/Time.ts"

/** The key of the advisory lock: one command at a time. Any fixed number works. */
const archiveLock = 0x75_73_68_65_75n

const databaseProblems = {
  SqlError: (error: SqlError) => monthRefused(`The database failed: ${error.message}`),
  Unavailable: ({ cause }: Unavailable) => monthRefused(`The database failed: ${String(cause)}`),
  ArchiveFailed: (error: ArchiveFailed) => monthRefused(`The database failed: ${error.message}`)
}

/** The outcome of a month, or the expected outcome in a trial. */
export interface MonthOutcome extends MonthState {
  /** Why the month stays; absent: it goes. */
  readonly stays?: string
  /** The file; absent in a trial, or if the month stays. */
  readonly written?: WrittenMonth
}

export interface Progress {
  /** Runs with the bytes of text that were copied since the last call. */
  readonly onBytes: (month: Month, bytes: number) => Effect.Effect<void>
  /** Runs with the rows that were removed since the last call. */
  readonly onRows: (month: Month, rows: number) => Effect.Effect<void>
}

export interface Options extends Progress {
  readonly before: Month
  readonly folder: string
  /** Only report the expected outcome. */
  readonly isTrial: boolean
  /** The version of Usher. */
  readonly usher: string
}

/** Archives the months before another one that can go, the oldest first. Returns what happened to each. */
export const archiveMonths = Effect.fnUntraced(function* (options: Options) {
  const { before, folder, isTrial, onBytes, onRows } = options
  const present = monthOf(yield* Time.serverNow)
  if (before > present) {
    return yield* monthRefused(`--before ${before}: ${present} has not ended. The last possible value is ${present}.`)
  }
  const connection = yield* CopyConnection.open
  const { sql } = connection
  yield* refuseOthers(sql)
  if (!isTrial) yield* continueRemovals(sql, onRows)
  const states = yield* Effect.forEach(yield* months(sql, before), (month) => stateOf(sql, month))
  return yield* Effect.forEach(
    states,
    Effect.fnUntraced(function* (state): Effect.fn.Return<
      MonthOutcome,
      StartRefused | SqlError | ArchiveFailed,
      Scope.Scope
    > {
      const stays = hindranceOf(state)
      if (stays !== undefined) return { ...state, stays }
      if (isTrial) return state
      const { month } = state
      const write = writeMonth(connection, { ...options, month, onBytes: (bytes) => onBytes(month, bytes) })
      const written = yield* write.pipe(Effect.catchTags(fileProblems(pathOf(folder, month))))
      yield* note(sql, written)
      yield* removeRows(sql, written.manifest, (rows) => onRows(month, rows))
      return { ...state, written }
    })
  )
}, Effect.catchTags(databaseProblems))

/** Returns the archives that the database knows. */
export const listArchives = Effect.flatMap(PgClient.PgClient, archives).pipe(
  Effect.catchTag("SqlError", databaseProblems.SqlError)
)

/** Restores the month of a file. Returns its archive and its mechanisms. */
export const restoreArchive = Effect.fnUntraced(function* (path: string, onBytes: (bytes: number) => void) {
  const connection = yield* CopyConnection.open
  yield* refuseOthers(connection.sql)
  return yield* restoreMonth(connection, { path, onBytes }).pipe(Effect.catchTags(fileProblems(path)))
}, Effect.catchTags(databaseProblems))

/** Compares a file with its digests. Returns its manifest. */
export const verifyArchive = (path: string) =>
  readMonth(path).pipe(
    Effect.map(({ manifest }) => manifest),
    Effect.catchTags(fileProblems(path))
  )

/** Ends what a killed command began. */
const continueRemovals = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, onRows: Progress["onRows"]) {
  const found: ReadonlyArray<Archive> = yield* archives(sql)
  const unfinished = found.filter(({ removedAt }) => removedAt === null)
  yield* Effect.forEach(unfinished, (archive) => removeRows(sql, archive, (rows) => onRows(archive.month, rows)), {
    discard: true
  })
})

/**
 * Refuses while another such command runs, or while a former release serves, because its verification ignores archives.
 */
const refuseOthers = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [lock] = yield* sql<{ readonly held: boolean }>`select pg_try_advisory_lock(${archiveLock}::bigint) as held`
  if (!lock!.held)
    return yield* monthRefused("Another `usher archive` works on this database. Wait until it has ended.")
  const { former } = yield* Upgrade.status
  if (former.length > 0) {
    const names = former.map(({ name, release }) => `${name} (${release.version})`).join(", ")
    return yield* monthRefused(`Processes of a former release serve from this database: ${names}. Upgrade them first.`)
  }
})

const fileProblems = (path: string) => ({
  ArchiveDamaged: ({ problem }: ArchiveDamaged) =>
    monthRefused(`${path} is not a complete, unchanged archive: ${problem}.`),
  ArchiveFailed: (error: ArchiveFailed) => monthRefused(problemOf(path, error))
})
