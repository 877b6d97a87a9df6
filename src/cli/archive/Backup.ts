/** `usher backup`: writes everything that the database holds to one file. */
import { Clock, Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { apiVersion } from "../../api/OpenApi.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import * as CurrentKeyring from "../../store/secrets/CurrentKeyring.ts"
import { json } from "../runtime/Arguments.ts"
import * as Environment from "../runtime/Environment.ts"
import { withModule } from "../runtime/LazyModule.ts"
import { makeProgress } from "../runtime/Progress.ts"
import { interruptible } from "../runtime/Signals.ts"

const services = Migrations.layerRequired.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(CurrentKeyring.layer),
  Layer.provideMerge(Environment.base)
)

const file = Argument.String("file").pipe(Argument.withDescription("The file to write, which must not exist"))

/** The command `backup`. */
export const command = Command.make("backup", { file, json }, ({ file, json }) =>
  Effect.gen(function* () {
    const begunAt = yield* Clock.currentTimeMillis
    const { manifest, size } = yield* withModule(
      () => import("../../store/archive/Backup.ts"),
      ({ backup }) => {
        let progress = makeProgress(1, begunAt)
        return backup({
          path: file,
          usher: apiVersion,
          onBegun: (bytes) => void (progress = makeProgress(kibibytes(bytes), begunAt)),
          onBytes: (bytes) => progress.advance("KiB", kibibytes(bytes))
        }).pipe(Effect.ensuring(Effect.suspend(() => progress.end)))
      }
    )
    const seconds = ((yield* Clock.currentTimeMillis) - begunAt) / 1_000
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    yield* Console.log(
      json
        ? JSON.stringify({ file, size, seconds, rows, ...manifest })
        : `Wrote ${file}: ${manifest.tables.length} tables, ${rows} rows, ${manifest.heads.events} events of ` +
            `${manifest.heads.mechanisms} mechanisms, as of ${manifest.at}. ${kibibytes(size)} KiB in ${seconds.toFixed(1)} s.`
    )
  }).pipe(Effect.scoped, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Write the whole database to one file, as it is at one moment. Servers may run meanwhile. The file is a tar " +
      "archive of compressed tables with their digests. It is called FILE.partial until it is complete and on disk. " +
      "Only this user may read it: it contains personal data. Sealed secrets stay sealed. SECRETS_KEY also authenticates " +
      "the file: a restore needs it, and refuses a changed file. Keep it apart from the file."
  ),
  Command.withExamples([
    { command: "usher backup /backups/usher-2026-11-23.tar", description: "The database of DATABASE_URL or DATA_DIR" },
    { command: "usher backup usher.tar --json", description: "With the manifest, for scripts" }
  ])
)

const kibibytes = (bytes: number): number => Math.ceil(bytes / 1_024)
