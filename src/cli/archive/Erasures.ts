/** `usher erasures`: lists erased consumers, and erases them again in a restored backup. */
import { Console, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { readFile } from "node:fs/promises"
import { StartRefused } from "../../settings/Settings.ts"
import * as Database from "../../store/postgres/Database.ts"
import * as Migrations from "../../store/postgres/Migrations.ts"
import { Erasure, Erasures } from "../../store/privacy/Erasures.ts"
import { example, orDatabaseProblem } from "../runtime/Arguments.ts"
import * as Environment from "../runtime/Environment.ts"
import { interruptible } from "../runtime/Signals.ts"

const services = Erasures.layer.pipe(
  Layer.provideMerge(Migrations.layerRequired),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(Environment.base)
)

const list = Command.make("list", {}, () =>
  Effect.flatMap(Erasures, ({ list }) => list).pipe(
    Effect.flatMap((erasures) => Effect.forEach(erasures, (erasure) => Console.log(JSON.stringify(erasure)))),
    orDatabaseProblem,
    Effect.scoped,
    Effect.provide(services),
    interruptible
  )
).pipe(
  Command.withDescription(
    "Print one line of JSON for each erased consumer: ids, and when. Keep it beside your backups"
  ),
  example("usher erasures list > erasures.jsonl", "After each backup")
)

const file = Argument.String("file").pipe(Argument.withDescription("What `usher erasures list` printed"))

const apply = Command.make("apply", { file }, ({ file }) =>
  Effect.gen(function* () {
    const erasures = yield* read(file)
    const { repeat } = yield* Erasures
    const outcomes = yield* Effect.forEach(erasures, repeat)
    const erased = outcomes.filter((isErased) => isErased).length
    yield* Console.log(`Erased ${erased} of ${erasures.length} consumers; the others were erased or are not here.`)
  }).pipe(orDatabaseProblem, Effect.scoped, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Erase consumers again that a restored backup contains, before `usher resume`. Running it again changes nothing"
  ),
  example("usher erasures apply erasures.jsonl", "After `usher restore`")
)

/** The command `erasures`. */
export const command = Command.make("erasures").pipe(
  Command.withDescription("Show erased consumers, and erase them again in a restored backup"),
  Command.withSubcommands([list, apply])
)

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Erasure))

const read = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.tryPromise(() => readFile(path, "utf8")).pipe(
    Effect.mapError(
      () => new StartRefused({ message: `${path}: there is no such file, or this user may not read it.` })
    )
  )
  const lines = text.split("\n").filter((line) => line !== "")
  return yield* Effect.forEach(lines, (line, index) =>
    Option.match(decode(line), {
      onNone: () =>
        Effect.fail(
          new StartRefused({
            message: `${path}:${index + 1}: this is no line of \`usher erasures list\`. Nothing was erased.`
          })
        ),
      onSome: Effect.succeed
    })
  )
})
