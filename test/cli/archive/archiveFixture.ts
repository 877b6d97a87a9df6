/** What tests of backups and archives need: a folder for files, and clients of databases. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pictureBytesMax } from "../../../src/domain/catalogue/Picture.ts"
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

/** Writes the largest picture that an organization can have. */
export const aLargePicture = (sql: PgClient.PgClient) => sql`
  insert into pictures (id, organization_id, mode, content_type, width, height, size, bytes, created_at, created_by)
  select gen_random_uuid(), id, 'live', 'image/webp', 1, 1, ${pictureBytesMax}, ${randomBytes(pictureBytesMax)}, now(), 'test'
  from organizations limit 1`

/** Returns where the contents of the entries are. The rest of a tar file is names, sizes and padding. */
export const contentsOf = (path: string): ReadonlyArray<{ readonly from: number; readonly length: number }> => {
  const bytes = readFileSync(path)
  const spans = []
  for (let header = 0; bytes[header] !== 0;) {
    const length = Number.parseInt(bytes.toString("latin1", header + 124, header + 135), 8)
    if (length > 0) spans.push({ from: header + 512, length })
    header += 512 * (1 + Math.ceil(length / 512))
  }
  return spans
}

/** Changes a byte of a file. */
export const flip = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at]! ^= 0xff
  writeFileSync(path, bytes)
}
