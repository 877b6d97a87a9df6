/** `usher upgrade`: shows how far an upgrade to this version is, and finishes it. */
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { columns } from "../../domain/values/Columns.ts"
import { textOf } from "../../domain/values/Release.ts"
import { StartRefused } from "../../settings/Settings.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import * as Upgrade from "../../store/postgres/Upgrade.ts"
import { examples, json, orDatabaseProblem } from "../runtime/Arguments.ts"
import * as Environment from "../runtime/Environment.ts"
import { interruptible } from "../runtime/Signals.ts"

const services = Migrations.layerRequired.pipe(Layer.provideMerge(Database.layer), Layer.provideMerge(Environment.base))

const currentStatus = Effect.catchTag(Upgrade.status, "SqlError", ({ message }) =>
  Effect.fail(new StartRefused({ message: `The database could not be queried: ${message}. Try again.` }))
)

const status = Command.make("status", { json }, ({ json }) =>
  Effect.gen(function* () {
    const found = yield* currentStatus
    const { release, step, base, formatVersion: level, isPending, steps, processes, former } = found
    const names = former.map(({ name }) => name)
    const nodes = processes.map(({ name, address, release, startedAt }) => ({ name, address, release, startedAt }))
    yield* Console.log(
      json
        ? JSON.stringify({ release, step, base, level, isPending, steps, former: names, processes: nodes })
        : readable(found).join("\n")
    )
  }).pipe(orDatabaseProblem, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Show the version of each process, what the database is at, and what is left of the upgrade to this version. Changes " +
      "nothing."
  ),
  examples("usher upgrade status")
)

const finish = Command.make("finish", { json }, ({ json }) =>
  Effect.gen(function* () {
    const { isPending, formatVersion: before } = yield* currentStatus
    const steps = yield* Upgrade.finish
    const { formatVersion: level } = yield* currentStatus
    yield* Console.log(
      json
        ? JSON.stringify({ wasPending: isPending, steps, levelBefore: before, level })
        : isPending
          ? `The upgrade is finished. The level is ${level}, and it was ${before}. Applied: ${listed(steps)}.`
          : "No upgrade is pending."
    )
  }).pipe(orDatabaseProblem, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Finish the upgrade to this version: remove what only the former version uses from the schema, and write events that " +
      "only this version reads. Afterwards there is no way back to the former version. Refused while a process of it runs. " +
      "Servers do the same by themselves an hour after the last such process."
  ),
  examples("usher upgrade finish")
)

/** The command with its subcommands. */
export const command = Command.make("upgrade").pipe(
  Command.withDescription("The upgrade of an installation to this version, node by node"),
  Command.withSubcommands([status, finish])
)

const listed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "nothing" : names.join(", "))

const readable = ({ release, step, base, formatVersion, isPending, steps, processes, former }: Upgrade.Status) => [
  `This version is ${release.version}: protocol ${textOf(release.protocol)}, level ${textOf(release.level)}, schema ${textOf(release.schema)}.`,
  `The database is at schema ${textOf([base, step])}, level ${formatVersion}.`,
  isPending
    ? `The upgrade is not finished: level ${release.level[1]} is not written, and these steps are left: ${listed(steps)}.`
    : "No upgrade is pending.",
  ...(isPending && former.length === 0 ? ["No former version runs: `usher upgrade finish` can finish it."] : []),
  ...(former.length > 0
    ? [`Of a former version: ${listed(former.map(({ name }) => name))}. Upgrade or end them first.`]
    : []),
  ...(processes.length === 0
    ? ["No process serves from this database."]
    : [
        columns([
          ["NODE", "ADDRESS", "VERSION", "PROTOCOL", "LEVEL", "SCHEMA"],
          ...processes.map(({ name, address, release: { version, protocol, level, schema } }) => [
            name,
            address ?? "-",
            version,
            textOf(protocol),
            textOf(level),
            textOf(schema)
          ])
        ])
      ])
]
