/** Loads an archive's tables into a database that has the backup's schema, and checks what it reads. */
import { Effect, Schema, Stream } from "effect"
import { type ArchiveDamaged, type ArchiveFailed, damaged } from "./ArchiveFailed.ts"
import { agrees } from "./Authentication.ts"
import type { Entry } from "./ArchiveReader.ts"
import type { CopyConnection } from "./CopyConnection.ts"
import { Loading } from "./Loading.ts"
import { type Introduction, introductionName, Manifest, type Table } from "./Manifest.ts"
import * as Recorded from "./Recorded.ts"
import * as Tables from "./Tables.ts"

const decodeManifest = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))

/** Where an archive is loaded, and who says from its manifest whether it may be. */
interface Target<E> {
  readonly connection: CopyConnection
  readonly check: (manifest: Manifest) => Effect.Effect<void, E>
}

/** Loads the entries after the first one. Returns the archive's manifest. */
export const load = Effect.fnUntraced(function* <E>(
  { connection, check }: Target<E>,
  introduction: Introduction,
  first: Entry,
  others: Stream.Stream<Entry, ArchiveDamaged | ArchiveFailed>
) {
  const { sql } = connection
  const own = yield* Tables.list(sql)
  if (JSON.stringify(own) !== JSON.stringify(introduction.tables)) {
    return yield* damaged(`its tables are not those of the schema's step ${introduction.schemaStep}`)
  }
  yield* sql`set local maintenance_work_mem = '256MB'`
  const comeBack = yield* Tables.strip(sql)
  // The migrations have made some rows.
  yield* Effect.forEach(own, (table) => Tables.empty(sql, table), { discard: true })
  const copyIn = (table: Table) => connection.copyIn(Tables.copy(table, "from stdin"))
  const loading = new Loading({ introductionName, decodeManifest, tables: own, copyIn }, first)
  yield* Stream.runForEach(others, (entry) => loading.take(entry)).pipe(Effect.onError(() => loading.abandon))
  const manifest = yield* loading.end
  if (!agrees(introduction, manifest)) return yield* damaged(`${introductionName} differs from the manifest`)
  yield* check(manifest)
  yield* Effect.forEach(comeBack, (statement) => sql.unsafe(statement), { discard: true })
  yield* Tables.advanceIdentities(sql)
  const counted = yield* Recorded.stored(sql, introduction.schemaStep)
  const { heads } = manifest
  if (counted.mechanisms !== heads.mechanisms || counted.events !== heads.events) {
    return yield* damaged("the journals do not have as many events as their heads say")
  }
  return manifest
})
