/** `usher nodes`: shows the processes that serve from this database, for operators. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
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
    "Show the processes that serve from this database, and how many of the shards each of them owns. One that was not " +
      "started with CLUSTER has neither address nor shards."
  ),
  examples("DATABASE_URL=postgres://usher@db.example.com/usher usher nodes")
)

const table = (nodes: ReadonlyArray<Nodes.AliveProcess>): string => {
  const rows = [
    ["NODE", "ADDRESS", "SHARDS", "STARTED", "HEARD"],
    ...nodes.map(({ name, address, shards, startedAt, heardAt }) => [
      name,
      address ?? "-",
      `${shards ?? "-"}`,
      startedAt.toISOString(),
      heardAt.toISOString()
    ])
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
