/**
 * `usher nodes`: the processes that share this database's mechanisms, for operators.
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Nodes from "../store/Nodes.ts"
import { json, orDatabaseProblem } from "./Arguments.ts"
import * as Environment from "./Environment.ts"
import { interruptible } from "./Signals.ts"

/** The command. */
export const command = Command.make("nodes", { json }, ({ json }) =>
  Effect.gen(function* () {
    const found = yield* Nodes.alive
    if (json) return yield* Console.log(JSON.stringify(found))
    yield* Console.log(found.length === 0 ? "No node is heard. A process without CLUSTER is none." : table(found))
  }).pipe(orDatabaseProblem, Effect.provide(Environment.withDatabase), interruptible)
).pipe(
  Command.withDescription("Show the nodes that are heard, and how many of the shards each of them owns"),
  Command.withExamples([
    { command: "DATABASE_URL=postgres://usher@db.example.com/usher usher nodes", description: "For people" },
    { command: "DATABASE_URL=postgres://usher@db.example.com/usher usher nodes --json", description: "For scripts" }
  ])
)

const table = (nodes: ReadonlyArray<Nodes.AliveNode>): string => {
  const rows = [
    ["NODE", "ADDRESS", "SHARDS", "STARTED", "HEARD"],
    ...nodes.map(({ name, address, shards, startedAt, heardAt }) => [
      name,
      address,
      `${shards}`,
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
