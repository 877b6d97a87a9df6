/**
 * Restores a backup into an empty database, in one transaction: after an error, a damaged file or a kill, the database
 * is empty as before. The database then begins a new timeline, and is on hold:
 *
 * - The timeline's id is new, and processes of the former one stop when they see it (`Heartbeat.ts`).
 * - Every mechanism begins a new epoch, which no former owner can have reached, so the journal refuses their appends.
 * - No timer, message or webhook runs until an operator ends the hold (`Installation.ts`).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema, type Scope, Sink, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { StartRefused } from "../../settings/Settings.ts"
import { beginTimeline } from "../coordination/Installation.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { latest } from "../postgres/Steps.ts"
import { type ArchiveDamaged, type ArchiveFailed, damaged } from "./ArchiveFailed.ts"
import { originOf, agrees } from "./Authentication.ts"
import { entries, type Entry } from "./ArchiveReader.ts"
import { format, Introduction, introductionName, Manifest, type Table } from "./Manifest.ts"
import { Loading } from "./Loading.ts"
import * as Migrations from "../postgres/Migrations.ts"
import * as CopyConnection from "./CopyConnection.ts"
import * as Tables from "./Tables.ts"
import * as Recorded from "./Recorded.ts"

const decodeIntroduction = Schema.decodeUnknownOption(Schema.fromJsonString(Introduction))

export interface Options {
  readonly path: string
  /** Restores also a file of unknown origin. An altered file is refused in any case. */
  readonly isUnverifiedAllowed: boolean
  /** Called with the bytes of the file that were read since the last call. */
  readonly onBytes: (bytes: number) => void
}

/** Restores the backup. Returns its manifest. */
export const restore = ({
  path,
  isUnverifiedAllowed,
  onBytes
}: Options): Effect.Effect<Manifest, StartRefused, PgClient.PgClient | Scope.Scope> =>
  Effect.gen(function* () {
    const archive = yield* entries(path, onBytes)
    const [first, others] = yield* Stream.peel(archive, Sink.head<Entry>())
    const introduction = yield* introductionOf(Option.getOrUndefined(first))
    yield* refuseStep(path, introduction)
    const connection = yield* CopyConnection.open
    const { sql } = connection
    const manifest = yield* sql.withTransaction(
      Effect.gen(function* () {
        // Another restore may run, or may just have been killed.
        yield* Migrations.lock
        yield* refuseUnlessEmpty(sql)
        yield* Migrations.applyUpTo(introduction.schemaStep)
        const check = (manifest: Manifest) => refuseOrigin(path, manifest, isUnverifiedAllowed)
        const manifest = yield* load({ connection, check }, introduction, Option.getOrThrow(first), others)
        yield* Migrations.applyUpTo(latest)
        yield* beginTimeline(introduction.at)
        return manifest
      }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    )
    yield* Effect.provideService(Migrations.buildIndexes, SqlClient.SqlClient, sql)
    yield* sql`analyze`
    return manifest
  }).pipe(
    Effect.catchTags({
      SqlError: (error) => refuse(`The database failed, and nothing was restored: ${error.message}`),
      MigrationError: (error) =>
        refuse(`The schema could not be made, and nothing was restored: ${String(error.cause)}`),
      ArchiveDamaged: ({ problem }) =>
        refuse(`${path} is not a complete, unchanged backup: ${problem}. Nothing was restored. Use another copy.`),
      ArchiveFailed: (error) => refuse(problemOf(path, error))
    })
  )

const introductionOf = (entry: Entry | undefined): Effect.Effect<Introduction, ArchiveDamaged> => {
  if (entry?.name !== introductionName) return damaged(`it does not begin with ${introductionName}`)
  const introduction = Option.getOrUndefined(decodeIntroduction(entry.content.toString("utf8")))
  if (introduction === undefined) return damaged(`${introductionName} cannot be read`)
  return introduction.format === format
    ? Effect.succeed(introduction)
    : damaged(`its format is ${introduction.format}, and this version of Usher reads ${format}`)
}

const refuseStep = (path: string, { schemaStep, usher, at }: Introduction) =>
  schemaStep <= latest
    ? Effect.void
    : refuse(
        `${path} was made by Usher ${usher} at ${at}, with the schema's step ${schemaStep}. This version of Usher knows steps ` +
          `up to ${latest}. Restore it with that version or a later one.`
      )

/** Refuses a file that somebody may have changed. Without any key nothing can be told of a file without an HMAC. */
const refuseOrigin = Effect.fnUntraced(function* (path: string, manifest: Manifest, isUnverifiedAllowed: boolean) {
  const keyring = yield* CurrentKeyring
  const origin = originOf(keyring, manifest)
  if (origin === "verified" || (origin === "no key" && keyring.current === undefined)) return
  if (origin === "altered") return yield* damaged("its HMAC differs: it was changed, or made by somebody else")
  const unknown =
    origin === "no key"
      ? "it has no HMAC, because it was made without SECRETS_KEY or by an earlier release"
      : `its HMAC is of the key ${manifest.authentication!.keyId}, which SECRETS_KEY does not have`
  if (isUnverifiedAllowed) return yield* Effect.logWarning(`${path} was restored unverified: ${unknown}`)
  return yield* refuse(
    `${path} cannot be verified: ${unknown}. Nothing was restored. If you know where the file was kept since, add --unverified.`
  )
})

const refuseUnlessEmpty = (sql: SqlClient.SqlClient) =>
  Effect.flatMap(Tables.anyObjects(sql), (found) =>
    found.length === 0
      ? Effect.void
      : refuse(
          `The database is not empty: it has ${found.join(", ")}. Restore into a new one, which DATABASE_URL or DATA_DIR ` +
            "names. Usher never deletes data of a database."
        )
  )

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

const problemOf = (path: string, error: ArchiveFailed): string => {
  switch (error.code) {
    case "ENOENT":
      return `${path}: there is no such file.`
    case "EACCES":
      return `${path}: this user may not read it.`
    case "EISDIR":
      return `${path} is a folder. Name a file.`
    default:
      return `The restore failed, and nothing was restored: ${error.message}`
  }
}

const decodeManifest = Schema.decodeUnknownOption(Schema.fromJsonString(Manifest))

/** Where an archive is loaded, and who says from its manifest whether it may be. */
interface Target<E> {
  readonly connection: CopyConnection.CopyConnection
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
  const counted = yield* Recorded.stored(sql)
  const { heads } = manifest
  if (counted.mechanisms !== heads.mechanisms || counted.events !== heads.events) {
    return yield* damaged("the journals do not have as many events as their heads say")
  }
  return manifest
})
