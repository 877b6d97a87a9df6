/** `usher restore`: restores a backup into an empty database, and verifies it. */
import { Clock, Console, Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { stat } from "node:fs/promises"
import * as Database from "../../store/postgres/Database.ts"
import * as CurrentKeyring from "../../store/secrets/CurrentKeyring.ts"
import { list as listSecrets } from "../../store/secrets/SealedSecrets.ts"
import { json, orDatabaseProblem } from "../runtime/Arguments.ts"
import * as Environment from "../runtime/Environment.ts"
import { withModule } from "../runtime/LazyModule.ts"
import { makeProgress } from "../runtime/Progress.ts"
import { interruptible } from "../runtime/Signals.ts"
import * as VerifyJournal from "../VerifyJournal.ts"

const services = Database.layer.pipe(Layer.provideMerge(CurrentKeyring.layer), Layer.provideMerge(Environment.base))

const file = Argument.String("file").pipe(Argument.withDescription("A file that `usher backup` wrote"))

const unverified = Flag.Boolean("unverified").pipe(
  Flag.withDescription(
    "Restore a file that SECRETS_KEY cannot verify: of an earlier release, or of another key. Changes of it stay unseen"
  ),
  Flag.withDefault(false)
)

/** The command `restore`. */
export const command = Command.make("restore", { file, unverified, json }, ({ file, unverified, json }) =>
  Effect.gen(function* () {
    const begunAt = yield* Clock.currentTimeMillis
    const manifest = yield* read(file, unverified, begunAt)
    const restored = yield* Clock.currentTimeMillis
    const report = yield* VerifyJournal.verifyAll({}, false).pipe(Effect.provide(VerifyJournal.journals))
    const seconds = {
      restore: (restored - begunAt) / 1_000,
      verify: ((yield* Clock.currentTimeMillis) - restored) / 1_000
    }
    const sealed = (yield* listSecrets).filter(({ sealedBy }) => sealedBy !== null).length
    yield* Console.log(
      json
        ? JSON.stringify({ file, at: manifest.at, seconds, sealedSecrets: sealed, verification: report })
        : [
            `Restored ${file}, as of ${manifest.at}, in ${seconds.restore.toFixed(1)} s. ${VerifyJournal.readable(report)}`,
            ...(sealed === 0
              ? []
              : [`${sealed} secrets are sealed: servers need the SECRETS_KEY of the backup's time.`]),
            "The database is on hold: servers answer reads only. End the hold with `usher resume`."
          ].join("\n")
    )
    if (report.differences > 0) {
      return yield* new VerifyJournal.JournalDiffers({
        message: `${report.differences} stored values differ from the journal, as they did when the backup was made. Run \`usher verify-journal --repair\` before \`usher resume\`.`
      })
    }
  }).pipe(orDatabaseProblem, Effect.scoped, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Restore a backup into an empty database: all of it, or nothing if the file is damaged or the command is ended. " +
      "With SECRETS_KEY, a file that was changed since it was made is refused. " +
      "A backup of an earlier version is migrated. Then every journal is verified. The database is on hold until " +
      "`usher resume`: servers answer reads, and no timer, message or webhook runs. End the servers of the former " +
      "database first. Sealed secrets need the SECRETS_KEY of the backup's time."
  ),
  Command.withExamples([
    {
      command: "DATABASE_URL=postgres://usher@db.example.com/restored usher restore usher.tar",
      description: "Into a new database"
    },
    { command: "DATA_DIR=.restored usher restore usher.tar", description: "Into a new embedded Postgres" }
  ])
)

const read = Effect.fnUntraced(function* (path: string, isUnverifiedAllowed: boolean, begunAt: number) {
  const size = yield* Effect.promise(() =>
    stat(path).then(
      ({ size }) => size,
      () => 0
    )
  )
  const progress = makeProgress(Math.max(1, kibibytes(size)), begunAt)
  return yield* withModule(
    () => import("../../store/archive/Restore.ts"),
    ({ restore }) =>
      restore({
        path,
        isUnverifiedAllowed,
        onBytes: (bytes) => Effect.runSync(progress.advance("KiB", kibibytes(bytes)))
      }).pipe(Effect.ensuring(progress.end))
  )
})

const kibibytes = (bytes: number): number => Math.ceil(bytes / 1_024)
