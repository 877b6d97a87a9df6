/** `usher database`: looks after the embedded Postgres. */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { release } from "../../domain/values/Release.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import * as Environment from "../runtime/Environment.ts"
import { withModule } from "../runtime/LazyModule.ts"
import { interruptible } from "../runtime/Signals.ts"
import * as VerifyJournal from "../VerifyJournal.ts"
import { example } from "../runtime/Arguments.ts"

const oldBinaries = Flag.String("old-binaries").pipe(
  Flag.withDescription("The folder with the programs of the former Postgres, such as /usr/lib/postgresql/15/bin")
)

/** Refuses a copy whose projections do not follow from its journals. */
const verify = Effect.gen(function* () {
  const report = yield* VerifyJournal.verifyAll({}, false).pipe(Effect.provide(VerifyJournal.journals))
  yield* Console.log(VerifyJournal.readable(report))
  if (report.differences === 0) return
  return yield* new StartRefused({
    message:
      `${report.differences} stored values differ from the journal, so the copy is not used, and the data is as it was. Start ` +
      "the former version of Usher, and run `usher verify-journal --repair` with it."
  })
})

const upgrade = Command.make("upgrade", { oldBinaries }, ({ oldBinaries }) =>
  Effect.gen(function* () {
    const { databaseUrl, dataDir } = yield* Settings
    if (Option.isSome(databaseUrl)) {
      return yield* new StartRefused({
        message:
          "DATABASE_URL names an external server. Upgrade it as its documentation says; unset DATABASE_URL for the embedded one."
      })
    }
    const upgraded = yield* withModule(
      () => import("../../store/archive/ServerUpgrade.ts"),
      ({ upgradeServer }) =>
        upgradeServer({ dataDir, oldBinaries, usher: release.version, verify, onStep: Console.log })
    )
    yield* Console.log(
      upgraded === undefined
        ? "The data is of this version's Postgres already."
        : `Upgraded ${upgraded.manifest.heads.mechanisms} mechanisms with ${upgraded.manifest.heads.events} events. The former data is in ${upgraded.kept}: remove it once the servers run well.`
    )
  }).pipe(Effect.scoped, Effect.provide(Environment.base), interruptible)
).pipe(
  Command.withDescription(
    "Move the embedded Postgres of DATA_DIR to the major version that comes with this version of Usher. Starts the former " +
      "programs, copies everything, verifies every journal, and keeps the former data. End all servers first. It can be " +
      "killed and repeated."
  ),
  example(
    "usher database upgrade --old-binaries /usr/lib/postgresql/15/bin",
    "From the Postgres 15 of the operating system"
  )
)

/** The command with its subcommands. */
export const command = Command.make("database").pipe(
  Command.withDescription("The embedded Postgres of DATA_DIR"),
  Command.withSubcommands([upgrade])
)
