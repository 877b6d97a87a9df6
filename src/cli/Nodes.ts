/** `usher nodes`: shows the processes that serve from this database, for operators. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { columns } from "../domain/values/Columns.ts"
import { textOf } from "../domain/values/Release.ts"
import * as Nodes from "../store/coordination/Nodes.ts"
import { examples, json, orDatabaseProblem } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

/** The command `nodes`. */
export const command = Command.make("nodes", { json }, ({ json }) =>
  Effect.gen(function* () {
    const found = yield* Nodes.heard
    if (json) return yield* Console.log(JSON.stringify(found.map(({ isNode: _, ...shown }) => shown)))
    yield* Console.log(found.length === 0 ? "No node is alive. Start one with `usher serve`." : table(found))
  }).pipe(orDatabaseProblem, Effect.provide(Environment.withDatabase), interruptible)
).pipe(
  Command.withDescription(
    "Show the processes that serve from this database: the version of each, the ranges in which it works with " +
      "others, and the number of shards it owns. A process without CLUSTER has neither address nor shards."
  ),
  examples("DATABASE_URL=postgres://usher@db.example.com/usher usher nodes")
)

const table = (nodes: ReadonlyArray<Nodes.AliveProcess>): string => {
  const rows = [
    ["NODE", "ADDRESS", "VERSION", "PROTOCOL", "LEVEL", "SCHEMA", "SHARDS", "STARTED", "HEARD"],
    ...nodes.map(({ name, address, release, shards, startedAt, heardAt }) => [
      name,
      address ?? "-",
      release.version,
      textOf(release.protocol),
      textOf(release.level),
      textOf(release.schema),
      `${shards ?? "-"}`,
      startedAt.toISOString(),
      heardAt.toISOString()
    ])
  ]
  return columns(rows)
}
