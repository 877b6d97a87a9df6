/** What tests of backups and archives need: a folder for files, and clients of databases. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

export const clientOf = (url: string) =>
  PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))

/** A folder that is removed when the scope closes. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "usher-archive-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** A migrated database, a client of it, and a folder. */
export const databaseAndFolder = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  return { url, sql: yield* clientOf(url), folder: yield* temporaryFolder }
})
