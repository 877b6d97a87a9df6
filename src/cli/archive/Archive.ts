/** `usher archive`: moves months in which all is over from the database to files, and back. */
import { Clock, Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { stat } from "node:fs/promises"
import { columns } from "../../domain/values/Columns.ts"
import { release } from "../../domain/values/Release.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { parseMonth } from "../../store/archive/months/Month.ts"
import type { MonthOutcome } from "../../store/archive/months/Months.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import { example, examples, json, orDatabaseProblem } from "../runtime/Arguments.ts"
import * as Environment from "../runtime/Environment.ts"
import { withModule } from "../runtime/LazyModule.ts"
import { makeProgress } from "../runtime/Progress.ts"
import { interruptible } from "../runtime/Signals.ts"
import * as VerifyJournal from "../VerifyJournal.ts"

const services = Migrations.layerRequired.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(Environment.base))

const months = () => import("../../store/archive/months/Months.ts")

const before = Flag.String("before").pipe(
  Flag.withDescription(
    "Archive the months before this one, such as 2026-06. A mechanism counts in the month of its creation (UTC)"
  ),
  Flag.filter(
    (text) => parseMonth(text) !== undefined,
    () => "a month such as 2026-06"
  ),
  Flag.map((text) => parseMonth(text)!),
  Flag.optional
)
const to = Flag.String("to").pipe(Flag.withDescription("The folder of the files"), Flag.withDefault("."))
const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDescription("Only show which months would be archived, and why the others stay"),
  Flag.withDefault(false)
)

const kibibytes = (bytes: number): number => Math.ceil(bytes / 1_024)

/** Shows what is being written and removed. The amount of work is not known before, so there is no share. */
const progressOf = Effect.map(Clock.currentTimeMillis, (begunAt) => {
  const bars = new Map<string, ReturnType<typeof makeProgress>>()
  const advance = (what: string, unit: string, total: number, steps: number) => {
    const bar = bars.get(what) ?? makeProgress(total, begunAt)
    bars.set(what, bar)
    return bar.advance(unit, steps)
  }
  return { advance, end: Effect.suspend(() => Effect.forEach(bars.values(), ({ end }) => end, { discard: true })) }
})

const archive = Effect.fnUntraced(function* (given: {
  readonly before: Option.Option<NonNullable<ReturnType<typeof parseMonth>>>
  readonly to: string
  readonly dryRun: boolean
  readonly json: boolean
}) {
  if (Option.isNone(given.before)) {
    return yield* new StartRefused({
      message: "--before is missing: name the first month that stays, such as 2026-06."
    })
  }
  const before = given.before.value
  const progress = yield* progressOf
  const outcomes = yield* withModule(months, ({ archiveMonths }) =>
    archiveMonths({
      before,
      folder: given.to,
      isTrial: given.dryRun,
      usher: release.version,
      onBytes: (month, bytes) => progress.advance(`${month} bytes`, `KiB of ${month} written`, 1, kibibytes(bytes)),
      onRows: (month, rows) => progress.advance(`${month} rows`, `rows of ${month} removed`, 1, rows)
    }).pipe(Effect.ensuring(progress.end))
  )
  yield* Console.log(
    given.json ? JSON.stringify({ dryRun: given.dryRun, months: outcomes }) : readable(outcomes, given.dryRun)
  )
  const staying = outcomes.filter(({ stays }) => stays !== undefined)
  if (staying.length > 0 && staying.length === outcomes.length) {
    return yield* new StartRefused({
      message: `No month before ${before} can be archived: ${staying.map(({ month, stays }) => `${month}: ${stays}`).join(" ")}`
    })
  }
})

const readable = (outcomes: ReadonlyArray<MonthOutcome>, isTrial: boolean): string =>
  outcomes.length === 0
    ? "There is nothing to archive: no month before has a journal in the database."
    : outcomes
        .map(({ month, mechanisms, events, stays, written }) => {
          const of = `${mechanisms} mechanisms, ${events} events`
          if (stays !== undefined) return `${month} stays (${of}): ${stays}`
          if (written === undefined) return isTrial ? `${month} would go: ${of}.` : `${month}: ${of}.`
          return `${month}: wrote and verified ${written.path} (${kibibytes(written.size)} KiB), and removed ${of}, ${written.manifest.places} places.`
        })
        .join("\n")

const list = Command.make("list", { json }, ({ json }) =>
  Effect.gen(function* () {
    const found = yield* withModule(months, ({ listArchives }) => listArchives)
    if (json) return yield* Console.log(JSON.stringify(found))
    yield* Console.log(
      found.length === 0
        ? "There are no archives."
        : columns([
            ["MONTH", "FILE", "MECHANISMS", "EVENTS", "PLACES", "MADE", "STATE"],
            ...found.map((archive) => [
              archive.month,
              archive.file,
              `${archive.mechanisms}`,
              `${archive.events}`,
              `${archive.places}`,
              archive.madeAt.toISOString(),
              archive.removedAt === null ? "rows left: run `usher archive` again" : "complete"
            ])
          ])
    )
  }).pipe(Effect.provide(services), interruptible)
).pipe(Command.withDescription("Show which months are in which files. Changes nothing"), examples("usher archive list"))

const file = Argument.String("file").pipe(Argument.withDescription("A file that `usher archive` wrote"))

const verify = Command.make("verify", { file }, ({ file }) =>
  Effect.gen(function* () {
    const { month, mechanisms, events, places, at } = yield* withModule(months, ({ verifyArchive }) =>
      verifyArchive(file)
    )
    yield* Console.log(
      `${file} is complete and unchanged: ${month} as of ${at}, ${mechanisms} mechanisms, ${events} events, ${places} places.`
    )
  }).pipe(interruptible)
).pipe(
  Command.withDescription("Compare a file with its digests. Needs no database"),
  example("usher archive verify /archives/usher-2026-05.tar", "Such as once a year")
)

const restore = Command.make("restore", { file }, ({ file }) =>
  Effect.gen(function* () {
    const size = yield* Effect.promise(() =>
      stat(file).then(
        ({ size }) => size,
        () => 0
      )
    )
    const progress = makeProgress(Math.max(1, kibibytes(size)), yield* Clock.currentTimeMillis)
    const { archive, mechanisms } = yield* withModule(months, ({ restoreArchive }) =>
      restoreArchive(file, (bytes) => Effect.runSync(progress.advance("KiB", kibibytes(bytes)))).pipe(
        Effect.ensuring(progress.end)
      )
    )
    const { month, events, places } = archive
    yield* Console.log(
      `Restored ${month}: ${mechanisms.length} mechanisms, ${events} events, ${places} places. Verifying them.`
    )
    const reports = yield* Effect.forEach(mechanisms, (mechanismId) =>
      VerifyJournal.verifyAll({ mechanismId }, false)
    ).pipe(Effect.provide(VerifyJournal.journals))
    const differences = reports.reduce((sum, report) => sum + report.differences, 0)
    yield* Console.log(differences === 0 ? "No difference." : `${differences} differences.`)
    if (differences > 0) {
      return yield* new VerifyJournal.JournalDiffers({
        message: "What was restored differs from its journals. Run `usher verify-journal` to see where."
      })
    }
  }).pipe(orDatabaseProblem, Effect.scoped, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Bring an archived month back into the database from which it came: all of it, or nothing if the file is damaged " +
      "or the command is ended. Servers may run meanwhile. `usher archive` can archive it again, once the file has " +
      "been moved away"
  ),
  example("usher archive restore /archives/usher-2026-05.tar", "To read it again")
)

/** The command with its subcommands. */
export const command = Command.make("archive", { before, to, dryRun, json }, (given) =>
  archive(given).pipe(Effect.scoped, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Remove past months from the database: write their journals and places to files, verify the files, and delete " +
      "the rows. A month is archived if every mechanism created in it is archived and torn down, and webhooks have its " +
      "events. Servers may run meanwhile. The command can be killed and repeated. Lists show archived mechanisms as " +
      "before. Analytics, exports of consumers and replays of webhooks no longer count them. Files contain ids of " +
      "consumers, and nothing else about them."
  ),
  Command.withExamples([
    { command: "usher archive --before 2026-06 --dry-run", description: "Which months would go, and which would stay" },
    {
      command: "usher archive --before 2026-06 --to /archives",
      description: "Write /archives/usher-2026-05.tar and earlier months"
    }
  ]),
  Command.withSubcommands([list, verify, restore])
)
