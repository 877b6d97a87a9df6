/**
 * `usher migrate`: migrates the database's schema to this version, and ends. `usher serve` does the same at its start.
 * Other commands refuse a schema of another version.
 */
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Database from "../store/postgres/Database.ts"
import * as Migrations from "../store/postgres/Migrations.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

const run = Effect.gen(function* () {
  const applied = yield* Migrations.run
  yield* Console.log(applied.length === 0 ? "The database's schema is up to date." : `Applied ${applied.join(", ")}.`)
}).pipe(Effect.provide(Database.layer.pipe(Layer.provideMerge(Environment.base))), interruptible)

/** The command `migrate`. */
export const command = Command.make("migrate", {}, () => run).pipe(
  Command.withDescription(
    "Bring the database's schema up to date. Safe to run twice. It refuses to change the schema under a running server."
  ),
  Command.withExamples([
    { command: "usher migrate", description: "The embedded Postgres in DATA_DIR" },
    {
      command: "DATABASE_URL=postgres://usher:secret@db.example.com/usher usher migrate",
      description: "An external server"
    }
  ])
)
